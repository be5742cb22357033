package analysis

import (
	"encoding/binary"

	"github.com/levelbloom/levelbloom/policy"
)

// A kind is one sort of filter that package policy builds.
type kind struct {
	encoding policy.Encoding
	call     string // that returns the policy
	new      func(bitsPerKey float64) (policy.Policy, error)
}

// exactKind is the kind that LevelDB's readers know. The FPR of ribbonKind does not depend on what
// the keys look like, because it hashes them well.
var (
	exactKind = kind{policy.EncodingBloom, "policy.NewBloom",
		func(bits float64) (policy.Policy, error) { return policy.NewBloom(bits) }}
	ribbonKind = kind{policy.EncodingRibbon, "policy.NewRibbon",
		func(bits float64) (policy.Policy, error) { return policy.NewRibbon(bits) }}
)

// fpp returns the FPP of a filter of n random keys with so many bits per key, as estimated from its
// bits; 1 if there is no such filter.
func (k kind) fpp(bitsPerKey, n float64) float64 {
	const enough = 20_000 // the FPP of more keys differs little
	p, err := k.new(bitsPerKey)
	if err != nil {
		return 1
	}
	builder := p.NewBuilder()
	for i := range uint64(min(max(n, 1), enough)) {
		builder.Add(binary.LittleEndian.AppendUint64(nil, i*0x9e3779b97f4a7c15)) // scattered
	}
	info, err := policy.Parse(builder.Finish(nil))
	if err != nil {
		return 1
	}
	_, fpp := info.Estimate()
	return fpp
}
