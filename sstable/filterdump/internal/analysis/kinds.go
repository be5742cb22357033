package analysis

import "github.com/levelbloom/levelbloom/policy"

// A sizedPolicy is a policy of package policy.
type sizedPolicy interface {
	policy.Policy
	FilterSize(n int) uint64
}

// A kind is one sort of filter that package policy builds.
type kind struct {
	encoding policy.Encoding
	call     string // that returns the policy
	readers  string // who reads the filters, besides levelbloom; "" for LevelDB's readers
	new      func(bitsPerKey float64) (sizedPolicy, error)
}

// kinds are what the advice can recommend.
var kinds = []kind{
	{policy.EncodingBloom, "policy.NewBloom", "",
		func(bits float64) (sizedPolicy, error) { return policy.NewBloom(bits) }},
	{policy.EncodingBlocked, "policy.NewBlockedBloom", onlyOurs,
		func(bits float64) (sizedPolicy, error) { return policy.NewBlockedBloom(bits) }},
}

const onlyOurs = `only levelbloom reads them; C++ LevelDB and goleveldb's own policy answer ` +
	`"may contain" to every key`
