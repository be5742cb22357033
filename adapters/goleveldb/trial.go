package goleveldb

import (
	"fmt"

	"github.com/levelbloom/levelbloom/policy"
)

// checkCompatible returns an error unless the policy of chosen and another one of its name read each other's filters,
// as far as a trial shows.
func checkCompatible(chosen *policyFilter, other policy.Policy) error {
	if policy.Compatible(chosen.policy, other) {
		return nil
	}
	return fmt.Errorf("goleveldb: policies of type %T and %T have the name %q, but one loses keys in the filters of the "+
		"other: give one of them another name, such as policy.WithName does", chosen.policy, other, chosen.name)
}
