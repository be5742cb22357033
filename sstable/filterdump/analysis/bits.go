package analysis

import (
	"math"
	"slices"

	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

// measure looks at the bits of all filters.
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
		bits += s.Bits
		set += s.Set
		fpp += s.FPP
		if s.Set == s.Bits {
			r.Saturated++
		}
		if !math.IsInf(s.Distinct, 1) {
			r.Distinct += s.Distinct
		}
		if !slices.Contains(r.Probes, s.K) {
			r.Probes = append(r.Probes, s.K)
		}
	}
	slices.Sort(r.Probes)
	r.Fill = ratio(float64(set), float64(bits))
	r.FPP = ratio(fpp, float64(measured))
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
