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

// BitsPerKey returns the number of bits per key that the policy was made with.
func (c *common) BitsPerKey() float64 { return c.bitsPerKey }

// format returns a policy's settings after its kind. Other options than the defaults follow the
// bits per key. The name is the last one, because it may contain commas.
func (c *common) format(kind string) string {
	s := fmt.Sprintf("%s:%v", kind, c.bitsPerKey)
	if c.tuning > 0 {
		s += fmt.Sprintf(",tuning=%v", c.tuning)
	}
	if c.verify {
		s += ",verify"
	}
	if c.name != Name {
		s += ",name=" + c.name
	}
	return s
}

// appendByBuilder appends the filter of keys, built by a builder of p, to dst.
func appendByBuilder(p Policy, dst []byte, keys [][]byte) []byte {
	b := p.NewBuilder()
	for _, key := range keys {
		b.Add(key)
	}
	return b.Finish(dst)
}

// maxBitsPerKey limits the setting: larger values are mistakes. From 44 bits per key on, k is
// maxProbes, and most false positives have the very hash of a key, which no number of bits helps.
const maxBitsPerKey = 1000

// newCommon checks what all constructors take.
func newCommon(bitsPerKey float64, opts []Option) (common, error) {
	c := common{name: Name, bitsPerKey: bitsPerKey}
	if !(bitsPerKey > 0 && bitsPerKey <= maxBitsPerKey) { // a NaN fails every comparison
		return c, fmt.Errorf("policy: %v bits per key: "+
			"pass a number above 0 and at most %d, usually 10", bitsPerKey, maxBitsPerKey)
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
