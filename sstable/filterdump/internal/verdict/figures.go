// Package verdict says what filters are worth to a database, from what was counted in it.
package verdict

import "github.com/levelbloom/levelbloom/policy"

// Figures are what was counted in a database, and what ribbon filters would be in the same tables.
type Figures struct {
	Engine string `json:"engine"` // the adapter: goleveldb, pebblev1, pebblev2; "": none
	Cache  int64  `json:"cache"`  // bytes of the block cache: by OPTIONS, or goleveldb's default

	Keys   int64   `json:"keys"`  // sum of the tables' numbers of different keys
	Bytes  int64   `json:"bytes"` // of the tables
	Old    int64   `json:"-"`     // of those with keys and without ribbon filters
	Levels []Level `json:"levels"`

	Sampled int    `json:"sampled"` // keys whose neighbors were looked up: all, or a random sample
	Lookups int    `json:"lookups"` // absent keys between neighbors: the most that were looked up
	Memory  string `json:"-"`       // what CheckCache says of memory with ribbon filters
}

// A Level is a level of the tree that has tables. Get and what follows it are data blocks that are
// read for 1,000 lookups of absent keys that lie between present ones.
type Level struct {
	Number   int            `json:"number"`
	Tables   int            `json:"tables"`
	Entries  int64          `json:"entries"`
	Policies map[string]int `json:"policies"` // tables by their filters' policy
	Filters  map[string]int `json:"filters"`  // tables by their encodings, or NoFilter, NoKeys

	FilterBytes float64 `json:"filter_bytes"`
	RibbonBytes float64 `json:"ribbon_bytes"` // computed: of policy.NewRibbon(10) for the same keys

	Get    float64 `json:"get"`    // counted: by the engine's own Get
	Has    float64 `json:"has"`    // counted: by Has of the engine's adapter, which asks L6's too
	Bare   float64 `json:"bare"`   // counted: without filters
	Ribbon float64 `json:"ribbon"` // computed: by Has, with policy.NewRibbon(10) in all tables
}

// What a Level counts tables without filters as. Those without keys need none.
const (
	NoFilter = "none"
	NoKeys   = "no keys"
)

// Total adds up the levels.
func (f *Figures) Total() Level {
	sum := Level{Policies: map[string]int{}, Filters: map[string]int{}}
	for _, l := range f.Levels {
		sum.Tables += l.Tables
		sum.FilterBytes += l.FilterBytes
		sum.RibbonBytes += l.RibbonBytes
		sum.Get += l.Get
		sum.Has += l.Has
		sum.Bare += l.Bare
		sum.Ribbon += l.Ribbon
		for name, n := range l.Policies {
			sum.Policies[name] += n
		}
		for name, n := range l.Filters {
			sum.Filters[name] += n
		}
	}
	return sum
}

// ribbons returns how many tables have ribbon filters alone, and how many have keys.
func (l *Level) ribbons() (ribbons, all int) {
	return l.Filters[policy.EncodingRibbon], l.Tables - l.Filters[NoKeys]
}
