package ratebench

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/levelbloom/levelbloom/bench/kind"
	"github.com/levelbloom/levelbloom/policy"
)

// A Choice is that between blocked Bloom and binary fuse for a number of keys and bits per key: what each can do, and which one the
// builder of binary fuse filters took.
type Choice struct {
	N       int
	Bits    float64
	Blocked Rate // of random keys
	Size    int  // bytes of a blocked Bloom filter
	Width   int  // bits of the longest fingerprints that fit, whose rate is 2^-Width; 0 if none do
	Written kind.Kind
}

// widths are the numbers of bits that fingerprints may have, the longest first.
var widths = []int{16, 12, 8}

// Choices measures blocked Bloom for all Ns and Bits, with random keys, and asks the builder. Encodings, Shapes and Densities do
// not matter. It returns errors as Run does, and one for numbers of keys of which no binary fuse filter is ever written.
func (c *Config) Choices(ctx context.Context) ([]Choice, error) {
	cells := map[int]int{}
	for _, n := range c.Ns {
		var err error
		if cells[n], err = fuseCells(n); err != nil {
			return nil, err
		}
	}
	measured := *c
	measured.Encodings, measured.Shapes = []Encoding{blocked}, Shapes[:1]
	results, err := measured.Run(ctx)
	if err != nil {
		return nil, err
	}
	var choices []Choice
	for _, r := range results {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		written, err := written(r.N, r.Bits)
		if err != nil {
			return nil, err
		}
		choices = append(choices, Choice{r.N, r.Bits, r.Rates[0], r.Sizes[0], longestThatFits(cells[r.N], r.N, r.Bits), kind.Of(written)})
	}
	return choices, nil
}

// written returns what the builder of binary fuse filters makes of n keys.
func written(n int, bits float64) ([]byte, error) {
	p, err := policy.NewBinaryFuse(bits)
	if err != nil {
		return nil, err
	}
	b := p.NewBuilder()
	var key [8]byte
	for i := range n {
		binary.LittleEndian.PutUint64(key[:], uint64(i))
		b.Add(key[:])
	}
	return b.Finish(nil), nil
}

// fuseTrailer is the length of what follows the cells.
const fuseTrailer = 16

// fuseCells returns the number of cells of a binary fuse filter of n keys, which does not depend on the bits per key. Any filter
// that the builder writes says it.
func fuseCells(n int) (int, error) {
	for bits := 12.0; bits <= 28; bits += 0.25 {
		filter, err := written(n, bits)
		if err != nil {
			return 0, err
		}
		if k := kind.Of(filter); k.Encoding == kind.Fuse {
			return (len(filter) - fuseTrailer) * 8 / k.Width, nil
		}
	}
	return 0, fmt.Errorf("%d keys: the builder writes no binary fuse filter: pass more", n)
}

// longestThatFits returns the longest width with which so many cells take no more than n keys may, or 0.
func longestThatFits(cells, n int, bits float64) int {
	for _, w := range widths {
		if float64(cells*w/8) <= math.Ceil(math.Ceil(float64(n)*bits)/8) {
			return w
		}
	}
	return 0
}

// fuse returns the rate of the longest fingerprints that fit.
func (c Choice) fuse() float64 { return math.Ldexp(1, -c.Width) }

// ratio returns how many times blocked Bloom's rate is that of binary fuse, and its standard error.
func (c Choice) ratio() (ratio, err float64) {
	return c.Blocked.Mean() / c.fuse(), c.Blocked.Error() / c.fuse()
}

// fewer returns the kind that has fewer false positives, as far as is known: neither if both are within tolerance.
func (c Choice) fewer() string {
	if c.Width == 0 {
		return string(kind.Blocked)
	}
	switch ratio, err := c.ratio(); {
	case ratio > 1+crossingTolerance*err:
		return kind.Kind{Encoding: kind.Fuse, Width: c.Width}.String()
	case ratio < 1-crossingTolerance*err:
		return string(kind.Blocked)
	}
	return equal
}

const (
	crossingTolerance = 3 // standard errors
	equal             = "equal"
)

// loss returns how many more false positives, as a part, the filter that the builder took has than the better one, if that is more
// than chance; otherwise 0.
func (c Choice) loss() float64 {
	if f := c.fewer(); f == equal || f == c.Written.String() {
		return 0
	}
	took := c.Blocked.Mean()
	if c.Written.Encoding == kind.Fuse {
		took = math.Ldexp(1, -c.Written.Width)
	}
	return took/min(c.Blocked.Mean(), c.fuse()) - 1
}

// crossing returns at how many bits per key blocked Bloom's rate passes that of fingerprints of a width, on the line between the
// logarithms of the two rates about it. It is not ok if it passes it nowhere: longer fingerprints may fit before. The choices are
// of one number of keys, in ascending order of bits.
func crossing(choices []Choice, width int) (bits float64, ok bool) {
	var before *Choice
	for _, c := range choices {
		if c.Width != width {
			continue
		}
		switch ratio, _ := c.ratio(); {
		case ratio >= 1:
			before = &c
		case before != nil:
			last, _ := before.ratio()
			return before.Bits + (c.Bits-before.Bits)*math.Log(last)/math.Log(last/ratio), true
		}
	}
	return 0, false
}
