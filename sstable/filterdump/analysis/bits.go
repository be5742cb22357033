package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/levelbloom/levelbloom/sstable/filterdump/encoding"
	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

// measure looks at the bits of all filters, or at their cells.
func (r *Report) measure(f *tables.Filters) {
	var bits, set int64
	var fpp float64
	measured := 0
	for _, filter := range f.Each {
		if len(filter) == 0 {
			continue
		}
		s, ok := f.Encoding.Measure(filter)
		if !ok {
			r.Unmeasured++
			continue
		}
		measured++
		fpp += s.FPP
		if s.Cells != nil {
			r.addCells(s.Cells)
			continue
		}
		bits += s.Bits
		set += s.Set
		if s.Set == s.Bits {
			r.Saturated++
		}
		if !math.IsInf(s.Distinct, 1) {
			r.Distinct += s.Distinct
		}
		r.Probes = with(r.Probes, s.K)
	}
	r.Fill = ratio(float64(set), float64(bits))
	r.FPP = ratio(fpp, float64(measured))
}

func (r *Report) addCells(c *encoding.Cells) {
	r.Cells += c.Number
	r.FingerprintBits = with(r.FingerprintBits, c.Width)
	if r.Filters == 1 {
		r.Fuse = &Fuse{SegmentCells: c.Segment, Seed: fmt.Sprintf("0x%016x", c.Seed)}
	}
}

// with puts n where it belongs in an ascending set, if it is not there yet.
func with(set []int, n int) []int {
	if i, found := slices.BinarySearch(set, n); !found {
		return slices.Insert(set, i, n)
	}
	return set
}

// size counts the filters and their bytes, which needs no encoding.
func (r *Report) size(f *tables.Filters) {
	bits := 0
	for _, filter := range f.Each {
		if len(filter) == 0 {
			r.Empty++
			continue
		}
		r.Filters++
		bits += 8 * len(filter)
	}
	r.Bytes = f.Bytes
	covered := float64(r.Entries - r.Unfiltered)
	r.BitsPerKey = ratio(float64(bits), covered)
	r.KeysPerFilter = ratio(covered, float64(r.Filters))
}

// ratio is a / b, or 0 if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
