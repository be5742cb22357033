// Package verdict says what filters are worth to a database, from what was counted in it. Package
// ondisk counts; filterdump and bench show the verdict.
package verdict

// Figures are what was counted in a database, and what other filters would be in the same tables.
type Figures struct {
	Why string `json:"why,omitempty"` // why nothing could be counted; then the rest means nothing

	Engine string `json:"engine"` // the adapter for it: goleveldb, pebblev1, pebblev2; "": none
	Cache  int64  `json:"cache"`  // bytes of its block cache: by its OPTIONS, or goleveldb's default

	Keys       int64          `json:"keys"`  // sum of the tables' numbers of different keys
	Bytes      int64          `json:"bytes"` // of the tables
	IndexBytes int64          `json:"index_bytes"`
	Unread     int            `json:"unread"` // tables that could not be read, and are left out
	Names      map[string]int `json:"names"`  // tables by their filters' policy

	Sampled int     `json:"sampled"` // keys whose neighbors were looked up: all, or a random sample
	Lookups int     `json:"lookups"` // absent keys between neighbors that were looked up
	Levels  []Level `json:"levels"`
	// Random is how many data blocks are read for 1,000 lookups of keys of random bytes.
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
	Checks float64 `json:"checks"` // counted: filters consulted, in L6 too
	Read   float64 `json:"read"`   // counted: data blocks read where no filter excludes the key
	Bare   float64 `json:"bare"`   // counted: data blocks read without filters

	ReadUnfiltered float64 `json:"read_unfiltered"` // the part of Read in tables without a filter

	Ribbon float64 `json:"ribbon"` // computed: data blocks read with policy.NewRibbon(10)
	Small  float64 `json:"small"`  // computed: with policy.NewRibbon(7)
	Tuned  float64 `json:"tuned"`  // simulated: with policy.WithTuning(); 0 for Pebble

	// What the verdict compares: data blocks read and bytes of filters, now by the engine's own Get
	// and then, after the change. Both are the same if the verdict is to keep the filters.
	Now       float64 `json:"now"`
	Then      float64 `json:"then"`
	ThenBytes float64 `json:"then_bytes"`
}

// Sum adds up the levels.
func (f *Figures) Sum(of func(l *Level) float64) (sum float64) {
	for i := range f.Levels {
		sum += of(&f.Levels[i])
	}
	return sum
}

// Get returns how many data blocks of the level the engine's own Get reads: it consults the filters
// of all levels, or with Pebble of all but L6.
func (f *Figures) Get(l *Level) float64 { return f.byGet(filtersNow).reads(l) }

// A setup is filters and a way to look keys up: the data blocks that are read in a level, and the
// bytes of its filters.
type setup struct{ reads, bytes func(l *Level) float64 }

// The filters that there are, and ribbon filters of 10 and of 7 bits, where a lookup consults all,
// as Has does.
var (
	filtersNow = setup{func(l *Level) float64 { return l.Read },
		func(l *Level) float64 { return float64(l.FilterBytes) }}
	ribbonFilters = setup{func(l *Level) float64 { return l.Ribbon },
		func(l *Level) float64 { return l.RibbonBytes }}
	smallFilters = setup{func(l *Level) float64 { return l.Small },
		func(l *Level) float64 { return l.SmallBytes }}
)

// byGet returns the setup with the engine's own Get, for which Pebble's L6 needs no filters.
func (f *Figures) byGet(s setup) setup {
	isDeep := func(l *Level) bool { return f.Engine != "goleveldb" && l.Number == 6 }
	return setup{func(l *Level) float64 {
		if isDeep(l) {
			return l.Bare
		}
		return s.reads(l)
	}, func(l *Level) float64 {
		if isDeep(l) {
			return 0
		}
		return s.bytes(l)
	}}
}
