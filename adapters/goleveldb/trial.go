package goleveldb

import (
	"fmt"

	"github.com/levelbloom/levelbloom/policy"
)

// checkReadEachOther returns an error unless the policy of chosen and another one of its name read each other's filters,
// as far as a trial shows.
func checkReadEachOther(chosen *policyFilter, other policy.Policy) error {
	a, b := unwrapped(chosen.policy), unwrapped(other)
	if reads(a, b) && reads(b, a) {
		return nil
	}
	return fmt.Errorf("goleveldb: policies of type %T and %T have the name %q, but one loses keys in the filters of the "+
		"other: give one of them another name, such as policy.WithName does", a, b, chosen.name)
}

// unwrapped returns the policy that does the work, so that a trial is not counted. It is nil if a wrapper has none.
func unwrapped(p policy.Policy) policy.Policy {
	for {
		if isNilPointer(p) {
			return nil
		}
		wrapper, ok := p.(interface{ Unwrap() policy.Policy })
		if !ok {
			return p
		}
		p = wrapper.Unwrap()
	}
}

// reads tries whether reader finds 64 keys, of 0 to 63 bytes, in a filter that maker makes of them. A reader of another
// encoding finds each of them only by chance.
func reads(reader, maker policy.Policy) bool {
	var keys [][]byte
	var key []byte
	builder := maker.NewBuilder()
	for i := range 64 {
		keys = append(keys, key)
		builder.Add(key)
		key = append(key[:i:i], byte(151*i+17)) // all bytes differ, half of them are above 0x7f
	}
	filter := builder.Finish(nil)
	for _, key := range keys {
		if !reader.MayContain(filter, key) {
			return false
		}
	}
	return true
}
