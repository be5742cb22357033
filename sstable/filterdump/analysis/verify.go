package analysis

import (
	"encoding/hex"
	"fmt"

	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

// maxLost is how many of the lost keys a report shows.
const maxLost = 10

// A verifier compares entries with the filters that cover them.
type verifier struct {
	filters *tables.Filters
	covered int64    // entries
	lost    int64    // of them, those that their filter does not match
	first   []string // the first of these, in hex
}

func (v *verifier) add(filter int, key []byte) {
	v.covered++
	if v.filters.Encoding.MayContain(v.filters.Each[filter], key) {
		return
	}
	v.lost++
	if len(v.first) < maxLost {
		v.first = append(v.first, hex.EncodeToString(key))
	}
}

// conclude says in the report what came out. It reports whether the filters' encoding is known, after that. Where it was
// only presumed, a key that does not match speaks against the encoding, and not for a false negative.
func (v *verifier) conclude(r *Report) (known bool) {
	if v.filters.Presumed && v.covered == 0 {
		r.Unverified = fmt.Sprintf("the policy %s is not known here, and there is no entry to try its filters on", v.filters.Policy)
		return false
	}
	if v.filters.Presumed && v.lost > 0 {
		r.Unverified = fmt.Sprintf("the policy %s is not known here, and its filters were taken for %v: %d of %d entries do not match, so they are of another encoding, or damaged",
			v.filters.Policy, v.filters.Encoding, v.lost, v.covered)
		return false
	}
	unknown := unknownEncodings(v.filters)
	if v.filters.Presumed && unknown != "" {
		r.Unverified = fmt.Sprintf("the policy %s is not known here, and its filters were taken for %v: %s", v.filters.Policy, v.filters.Encoding, unknown)
		return false
	}
	r.Verified, r.Unverified = unknown == "", unknown
	r.FalseNegatives, r.Lost = v.lost, v.first
	return true
}
