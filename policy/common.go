package policy

import (
	"errors"
	"fmt"
)

// common is what all policies of this package share.
type common struct {
	name       string
	bitsPerKey float64
	tuning     float64 // the argument of WithTuning, or 0
	verify     bool    // WithVerify
}

// Name returns the name under which engines store the filters.
func (c *common) Name() string { return c.name }

// mustBeUsable panics if the policy does not come from a constructor.
func (c *common) mustBeUsable() {
	if c.name == "" {
		panic(errUnusable)
	}
}

// appendByBuilder appends the filter of keys, built by a builder of p, to dst.
func appendByBuilder(p Policy, dst []byte, keys [][]byte) []byte {
	b := p.NewBuilder()
	for _, key := range keys {
		b.Add(key)
	}
	return b.Finish(dst)
}

// maxBitsPerKey limits the setting. One key then takes 128 MiB; larger values are mistakes.
const maxBitsPerKey = 1 << 30

// newCommon checks what all constructors take.
func newCommon(bitsPerKey float64, opts []Option) (common, error) {
	c := common{name: Name, bitsPerKey: bitsPerKey}
	if !(bitsPerKey > 0 && bitsPerKey <= maxBitsPerKey) { // a NaN fails every comparison
		return c, fmt.Errorf("policy: %v bits per key: "+
			"pass a number above 0 and at most 2^30, usually 10", bitsPerKey)
	}
	for _, opt := range opts {
		if opt == nil {
			return c, errors.New("policy: an option is nil: leave it out")
		}
		if err := opt(&c); err != nil {
			return c, err
		}
	}
	return c, nil
}
