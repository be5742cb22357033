package builder

import "sync/atomic"

// A Setting is what builders are made with.
type Setting struct {
	BitsPerKey float64
	Tuned      bool      // for Bloom filters: whether their sizes spread probes
	Counters   *Counters // nil if nothing is counted
}

// Counters count what the filters of a policy answer, and what its builders build.
type Counters struct {
	Absent, MayContain             atomic.Uint64
	Filters, Keys, Bytes, Replaced atomic.Uint64
}

// built counts a filter of n keys.
func (c *Counters) built(n int, filter []byte) {
	c.Filters.Add(1)
	c.Keys.Add(uint64(n))
	c.Bytes.Add(uint64(len(filter)))
	if string(filter) == Replacement {
		c.Replaced.Add(1)
	}
}

// Replacement is the filter in place of one that cannot be built. It excludes nothing:
// LevelDB's readers answer "may contain" to every filter of at least 2 bytes whose last one is
// above 30.
const Replacement = "\xff\xff"
