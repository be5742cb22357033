package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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

// parse counts the encodings of all filters. It says what is wrong with filters, "" if nothing is.
func (r *Report) parse(f *tables.Filters) (wrong string) {
	malformed := map[string]int{} // filters by what is wrong
	r.Encodings = map[string]int{}
	for _, filter := range f.Each {
		if len(filter) == 0 {
			continue
		}
		encoding, _, err := f.Reader.Parse(filter)
		r.Encodings[encoding]++
		if err != nil {
			malformed[err.Error()]++
		}
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
