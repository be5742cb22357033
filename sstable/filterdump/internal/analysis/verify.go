package analysis

import (
	"encoding/hex"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// maxLost is how many of the lost keys a report shows.
const maxLost = 10

// A verifier compares entries with the filters that cover them.
type verifier struct {
	filters *tables.Filters
	lost    int64    // entries that their filter does not match
	first   []string // the first of these, in hex
}

func (v *verifier) add(filter int, key []byte) {
	if v.filters.Reader.MayContain(v.filters.Each[filter], key) {
		return
	}
	v.lost++
	if len(v.first) < maxLost {
		v.first = append(v.first, hex.EncodeToString(key))
	}
}

// conclude reports what came out. Filters that could not be parsed match every key, or none, so
// that nothing is verified by them.
func (v *verifier) conclude(r *Report) {
	r.Unverified = r.unparsed()
	r.Verified = r.Unverified == ""
	r.FalseNegatives, r.Lost = v.lost, v.first
}
