package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// countFilters counts the filters and their bytes, which needs no reader. keys has the number of
// keys that each filter was built from.
func (r *Report) countFilters(f *tables.Filters, keys []int64) {
	bits, built := 0, int64(0)
	for i, filter := range f.Each {
		if len(filter) == 0 {
			r.Empty++
			continue
		}
		r.WithKeys++
		bits += 8 * len(filter)
		built += keys[i]
	}
	r.BitsPerKey = ratio(float64(bits), float64(built))
	r.KeysPerFilter = ratio(float64(built), float64(r.WithKeys))
}

// tunedName names filters of policy.WithTuning.
var tunedName = policy.EncodingBloom.String() + ", tuned"

// isTuned reports whether no number of bits per key gives a filter of n keys both its size and its
// k in LevelDB's policy. Not every tuned filter differs so.
func isTuned(info policy.Info, n int64) bool {
	size := len(info.Payload)
	if info.Encoding != policy.EncodingBloom || n == 0 || size <= 8 {
		return false
	}
	fewest, most := float64(8*(size-1))/float64(n), float64(8*size)/float64(n)
	k := float64(info.K)
	return k+1 <= fewest*0.69 && k < 30 || k > most*0.69 && k > 1
}

// measure looks at the bits of all filters. keys has the number of keys that each was built from. It
// says what is wrong with filters, "" if nothing is.
func (r *Report) measure(f *tables.Filters, keys []int64) (wrong string) {
	malformed := map[string]int{} // filters by what is wrong
	r.Encodings = map[string]int{}
	var bits, set, fpp, measured float64
	for i, filter := range f.Each {
		if len(filter) == 0 {
			continue
		}
		encoding, info, err := f.Reader.Parse(filter)
		if err == nil && isTuned(info.Info, keys[i]) {
			encoding = tunedName
		}
		r.Encodings[encoding]++
		if err != nil {
			malformed[err.Error()]++
			continue
		}
		measured++
		fpp += info.FPP()
		if info.K == 0 || info.Encoding == policy.EncodingRibbon {
			continue // an encoding without probes
		}
		set += float64(info.Ones())
		bits += float64(8 * len(info.Payload))
		if i, found := slices.BinarySearch(r.Probes, info.K); !found {
			r.Probes = slices.Insert(r.Probes, i, info.K)
		}
	}
	r.Fill = ratio(set, bits)
	if measured > 0 {
		fpp /= measured
		r.FPP = &fpp
	}
	var all []string
	for _, cause := range slices.Sorted(maps.Keys(malformed)) {
		all = append(all, fmt.Sprintf("%d of %s: %s",
			malformed[cause], Count(r.WithKeys, "filter"), cause))
	}
	return strings.Join(all, "; ")
}

// Encoding names the encodings of the filters in words.
func (r *Report) Encoding() string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.Encodings)) {
		if len(r.Encodings) > 1 {
			name = fmt.Sprintf("%s of %s", Count(r.Encodings[name], "filter"), name)
		}
		names = append(names, name)
	}
	return strings.Join(names, "; ")
}

// ratio is a / b, or 0 if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
