package policy_test

import "github.com/levelbloom/levelbloom/policy"

func filterOf(keys [][]byte) ([]byte, error) {
	bloom, err := policy.NewBloom(10) // bits per key
	if err != nil {
		return nil, err
	}
	return bloom.AppendFilter(nil, keys), nil // to ask it, call policy.MayContain
}
