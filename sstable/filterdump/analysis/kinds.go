package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/sstable/filterdump/encoding"
	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

// kinds counts the filters with keys by their encoding.
func kinds(f *tables.Filters) map[encoding.Encoding]int {
	n := map[encoding.Encoding]int{}
	for _, filter := range f.Each {
		if len(filter) > 0 {
			n[f.Encoding.Of(filter)]++
		}
	}
	return n
}

// nameEncodings says in the report which encodings the filters have.
func (r *Report) nameEncodings(f *tables.Filters) {
	r.Encodings = map[string]int{}
	for e, n := range kinds(f) {
		r.Encodings[e.String()] = n
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.Encodings)) {
		if len(r.Encodings) > 1 {
			name = fmt.Sprintf("%s of %s", count(r.Encodings[name], "filter"), name)
		}
		names = append(names, name)
	}
	r.Encoding = strings.Join(names, "; ")
	if f.Presumed {
		r.Encoding += fmt.Sprintf(" (the policy %s is not known here, but all of %d entries match)", f.Policy, r.Entries-r.Unfiltered)
	}
}

// unknownEncodings names the encodings that are not known here, "" if there are none. Entries cannot be compared with such
// filters.
func unknownEncodings(f *tables.Filters) string {
	var all []string
	of := kinds(f)
	filters := 0
	for _, n := range of {
		filters += n
	}
	for e, n := range of {
		if _, ok := e.(encoding.Unknown); ok {
			all = append(all, fmt.Sprintf("%s in %d of %s", e, n, count(filters, "filter")))
		}
	}
	slices.Sort(all)
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, "; ") + ": every key may be contained"
}
