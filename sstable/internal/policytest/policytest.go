// Package policytest holds what the tests of sstable and filterdump share.
package policytest

// Must returns v, and panics if err is not nil: policytest.Must(policy.NewBloom(10)).
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
