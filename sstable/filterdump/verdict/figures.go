// Package verdict says what filters are worth to a database, from what was counted in it. Package
// ondisk counts; filterdump and bench show the verdict.
package verdict

// Figures are what was counted in a database, and what other filters would be in the same tables.
type Figures struct {
	Why string `json:"why,omitempty"` // nothing could be counted, and why; then the rest means nothing

	Engine string `json:"engine"` // the adapter for it: goleveldb, pebblev1, pebblev2; "": none
	Cache  int64  `json:"cache"`  // bytes of its block cache: by its OPTIONS, or goleveldb's default

	Keys       int64          `json:"keys"`  // different keys of each table, added up
	Bytes      int64          `json:"bytes"` // of the tables
	IndexBytes int64          `json:"index_bytes"`
	Unread     int            `json:"unread"` // tables that could not be read, and are left out
	Names      map[string]int `json:"names"`  // tables by their filters' policy

	Sampled int     `json:"sampled"` // keys of which neighbors were sought: all, or a random sample
	Lookups int     `json:"lookups"` // absent keys between neighbors that were looked up
	Levels  []Level `json:"levels"`
	// Random is how many blocks are read for 1,000 lookups of keys of random bytes.
	Random float64 `json:"random"`
}

// A Level is a level of the tree that has tables. Ranges and what follows it are means per 1,000
// lookups of absent keys that lie between present ones.
type Level struct {
	Number     int `json:"number"`
	Tables     int `json:"tables"`
	Unfiltered int `json:"unfiltered"` // tables without a filter

	FilterBytes int64   `json:"filter_bytes"`
	RibbonBytes float64 `json:"ribbon_bytes"` // computed: of policy.NewRibbon(10) for the same keys
	SmallBytes  float64 `json:"small_bytes"`  // computed: of policy.NewRibbon(7)

	Ranges float64 `json:"ranges"` // counted: tables that have the key in their range
	Checks float64 `json:"checks"` // counted: filters consulted, if those of L6 are too
	Read   float64 `json:"read"`   // counted: data blocks read where no filter says "absent"
	Bare   float64 `json:"bare"`   // counted: data blocks read without filters

	ReadUnfiltered float64 `json:"read_unfiltered"` // the part of Read in tables without a filter

	Ribbon float64 `json:"ribbon"` // computed: data blocks read with policy.NewRibbon(10)
	Small  float64 `json:"small"`  // computed: with policy.NewRibbon(7)
	Tuned  float64 `json:"tuned"`  // simulated: with policy.WithTuning(0.05); 0 for Pebble

	// What the verdict compares: data blocks read and bytes of filters, now by the engine's own Get
	// and then, if one does what it says. Both are the same if it says to keep what there is.
	Now       float64 `json:"now"`
	Then      float64 `json:"then"`
	ThenBytes float64 `json:"then_bytes"`
}

// Get returns how many data blocks of the level the engine's own Get reads: it consults the filters
// of all levels, or with Pebble of all but L6.
func (f *Figures) Get(l *Level) float64 { return f.shallow(l, l.Read) }

// shallow returns reads, or those without filters for L6 of Pebble.
func (f *Figures) shallow(l *Level, reads float64) float64 {
	if f.Engine != "goleveldb" && l.Number == 6 {
		return l.Bare
	}
	return reads
}

// Sum adds up the levels.
func (f *Figures) Sum(of func(l *Level) float64) (sum float64) {
	for i := range f.Levels {
		sum += of(&f.Levels[i])
	}
	return sum
}

// What there can be in a level, all per 1,000 lookups: what Has reads, which consults all filters,
// and what Get and Has would read with ribbon filters.
func (f *Figures) has(l *Level) float64       { return l.Read }
func (f *Figures) ribbonGet(l *Level) float64 { return f.shallow(l, l.Ribbon) }
func (f *Figures) ribbonHas(l *Level) float64 { return l.Ribbon }
func (f *Figures) smallGet(l *Level) float64  { return f.shallow(l, l.Small) }

func filterBytes(l *Level) float64 { return float64(l.FilterBytes) }
func ribbonBytes(l *Level) float64 { return l.RibbonBytes }

// shallowBytes returns the bytes of filters where Get consults them.
func (f *Figures) shallowBytes(of func(l *Level) float64) func(l *Level) float64 {
	return func(l *Level) float64 {
		if f.Engine != "goleveldb" && l.Number == 6 {
			return 0
		}
		return of(l)
	}
}
