// Package verdict says what filters are worth to a database, from what was counted in it.
package verdict

import (
	"slices"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verify"
)

// Figures are what was counted in a database, and what ribbon filters would be in the same tables.
type Figures struct {
	Engine string `json:"engine"` // the adapter: goleveldb, pebblev1, pebblev2; "": none
	Cache  int64  `json:"cache"`  // bytes of the block cache, without Pebble's memtables

	Keys       int64   `json:"keys"`       // sum of the tables' numbers of different keys
	Unfiltered int64   `json:"unfiltered"` // of those in tables without filters
	Bytes      int64   `json:"bytes"`      // of the tables
	Old        int64   `json:"old"`        // of those with keys and without ribbon filters
	Levels     []Level `json:"levels"`
	Total      Level   `json:"total"`

	Sampled int `json:"sampled"` // keys whose neighbors were looked up: all, or a random sample
	Lookups int `json:"lookups"` // absent keys between neighbors: the most that were looked up

	BlockCache Setting  `json:"-"` // its size, in bytes
	OpenTables Setting  `json:"-"` // how many stay open
	Configured []string `json:"-"` // policies in Pebble's OPTIONS; none if there are no OPTIONS

	// What is read for 1,000 lookups of absent keys that lie between present ones, in data blocks.
	Get    float64 `json:"get"`    // counted: by the engine's own Get
	Has    float64 `json:"has"`    // counted: by Has of the engine's adapter, which asks L6's too
	Bare   float64 `json:"bare"`   // counted: without filters
	Ribbon float64 `json:"ribbon"` // computed: by Has, with policy.NewRibbon(10) in all tables
}

// A Setting is what an option provides, the engine's default if those of the program are not known,
// and what lookups of absent keys require of it if all tables have ribbon filters.
type Setting struct{ Has, Required uint64 }

// Lacks reports whether it is too small.
func (s Setting) Lacks() bool { return s.Has < s.Required }

// A Level is a level of the tree that has tables, or all of them.
type Level struct {
	Number   int            `json:"number"`
	Tables   int            `json:"tables"`
	Entries  int64          `json:"entries"`
	Policies map[string]int `json:"policies"` // tables by their filters' policy
	Filters  map[string]int `json:"filters"`  // tables by kind, or NoFilter, NoKeys

	FilterBytes float64 `json:"filter_bytes"`
	RibbonBytes float64 `json:"ribbon_bytes"` // computed: of policy.NewRibbon(10) for the same keys
}

// What a Level counts tables without filters as. Those without keys need none.
const (
	NoFilter = "none"
	NoKeys   = "no keys"
)

// Add adds a table of a level to the figures.
func (f *Figures) Add(level int, r *verify.Result) {
	f.Keys += r.Keys
	f.Bytes += r.Size
	filters := NoFilter
	switch {
	case r.Keys == 0:
		filters = NoKeys
	case r.ByKind != nil:
		filters = r.Kinds()
	}
	if filters != "ribbon" && filters != NoKeys {
		f.Old += r.Size
	}
	if filters == NoFilter {
		f.Unfiltered += r.Keys
	}
	at, found := slices.BinarySearchFunc(f.Levels, level, func(l Level, n int) int {
		return l.Number - n
	})
	if !found {
		f.Levels = slices.Insert(f.Levels, at, Level{Number: level})
	}
	for _, l := range []*Level{&f.Levels[at], &f.Total} {
		if l.Filters == nil {
			l.Policies, l.Filters = map[string]int{}, map[string]int{}
		}
		l.Tables++
		l.Entries += r.Entries
		l.Filters[filters]++
		if r.ByKind != nil {
			l.Policies[r.Policy]++
		}
		l.FilterBytes += float64(r.FilterBytes)
		l.RibbonBytes += r.RibbonBytes
	}
}
