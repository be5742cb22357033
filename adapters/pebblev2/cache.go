package pebblev2

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

// CacheReport says which filters a database has, and compares what lookups of absent keys need with
// what the options provide. Sizes are in bytes, of this database alone.
type CacheReport struct {
	Levels    []LevelFilters // L0 to L6; DB.Get does not consult those of L6
	Tables    int            // on disk
	OpenFiles int            // tables that Pebble keeps open, or -1 if the options have a file cache
	Fault     string         // of the options: why tables lack filters or marks, "" if none does
	NoRewrite string         // why Rewrite refuses the database, "" if it does not

	Filters   uint64 // of all levels
	Largest   uint64 // the largest one with its index, for which each shard of the cache needs room
	Indexes   uint64 // what is read of them before the filters: of indexes in parts, the top level
	MemTables uint64 // two memtables, the current one and one that Pebble keeps for reuse
	Cache     uint64 // the size of the block cache
}

// LevelFilters counts the tables of one level by their filters on disk. It shows whether new tables
// get the filters that were configured, and how far compactions have replaced former ones.
type LevelFilters struct {
	ByName  map[string]int // tables with a filter, by the name of its policy
	Bytes   uint64         // the size of these filters
	None    int            // tables without a filter
	Marked  int            // tables with the mark of Configure: see [Has]
	Unknown int            // virtual tables, whose filters Pebble v2 does not report: not in sizes

	Old      int    // tables that lack what the options give new ones: see [Rewrite]
	OldBytes uint64 // their size
}

// CheckCache counts the filters of db, and reports whether db can answer lookups of absent keys
// from memory, and what to do if not. o must be the options that db was opened with, after
// [Configure]. CheckCache reads the properties of every table, and may run while db is in use. It
// returns Pebble's errors.
//
// A lookup opens each table that it comes to, unless that is among the open ones, some less than
// MaxOpenFiles. To open a table, Pebble reads its footer, metaindex and properties.
//
// Pebble keeps each filter whole in its block cache, beside the index, which a lookup reads too.
// The cache consists of shards, and each lookup reads anew a filter that is larger than its shard.
// CheckCache assumes as many shards as pebble.NewCache makes, and that no other database shares the
// cache: a cache does not know how many do.
//
// Pebble also takes the memory of the memtables from the cache. With its default sizes, two
// memtables are as large as the cache: after some writes nothing stays cached, and every check of a
// filter reads it. Filters that come and go cost more reads than they avoid.
func CheckCache(o *pebble.Options, db *pebble.DB) (CacheReport, error) {
	levels, err := db.SSTables(pebble.WithProperties())
	if err != nil {
		return CacheReport{}, err
	}
	r := CacheReport{
		OpenFiles: openFiles(o),
		MemTables: 2 * cmp.Or(o.MemTableSize, 4<<20), // Pebble's default
		Cache:     uint64(cacheSize(o)),
	}
	if err := lacksRangeKeys(db); err != nil {
		r.NoRewrite = err.Error()
	}
	w, err := wantedOf(o)
	configured := err == nil
	if configured {
		err = lacksMark(o)
	}
	if err != nil {
		r.Fault = strings.TrimPrefix(err.Error(), "pebblev2: ")
	}
	for level, tables := range levels {
		l := LevelFilters{ByName: make(map[string]int)}
		for _, t := range tables {
			p := t.Properties
			if configured && w.isOld(level, &t) {
				l.Old++
				l.OldBytes += t.Size
			}
			if p.IndexSize == 0 { // every table has an index
				l.Unknown++
				continue
			}
			if p.FilterPolicyName == "" {
				l.None++
			} else {
				l.ByName[p.FilterPolicyName]++
			}
			if _, marked := p.UserProperties[markName]; marked {
				l.Marked++
			}
			l.Bytes += p.FilterSize
			index := p.IndexSize
			if p.IndexPartitions > 0 {
				index = p.TopLevelIndexSize
			}
			r.Indexes += index
			r.Largest = max(r.Largest, p.FilterSize+index)
		}
		r.Levels = append(r.Levels, l)
		r.Tables += len(tables)
		r.Filters += l.Bytes
	}
	return r, nil
}

// Required returns the size of the block cache at which lookups of absent keys read next to
// nothing: two memtables, filters and indexes twice, and in each shard the largest filter with its
// index. Blocks with data come on top: where they compete for less room, they evict filters, and
// lookups of present keys read these again.
func (r CacheReport) Required() uint64 { return r.required(0) }

// added is what Pebble v2 adds to the two blocks of a table in the cache, and some more.
const added = 1 << 10

// required is Required, but not below a size. A larger cache may have more shards. Few blocks
// spread over them unevenly: hence the largest one for each.
func (r CacheReport) required(size uint64) uint64 {
	for {
		need := r.MemTables + 2*(r.Filters+r.Indexes+added*uint64(r.Tables)) + shards(size)*r.Largest
		if size >= need {
			return size
		}
		size = need
	}
}

// round returns a power of two, in MiB, of at least size bytes, that is as large as required.
func (r CacheReport) round(size uint64) uint64 {
	n := uint64(1)
	for n*mib < size || r.required(n*mib) > n*mib {
		n *= 2
	}
	return n
}

// shards returns how many shards pebble.NewCache gives a cache of that size.
func shards(size uint64) uint64 {
	if n := 4 * uint64(runtime.GOMAXPROCS(0)); size/n >= 4<<20 {
		return n
	}
	return 4
}

// requiredFiles returns how many tables must be able to stay open: a quarter more than there are,
// because Pebble divides its file cache into parts that do not fill evenly.
func (r CacheReport) requiredFiles() int { return r.Tables + r.Tables/4 }

// Fits reports whether lookups of absent keys are answered from memory, by the filters and marks
// that the options give. It is false if a table lacks them or its filter is not known. It knows
// nothing of other databases that share a cache, nor how many tables a file cache of the options
// keeps open.
//
// Even then, lookups read tables of a level to which the options give no filters and, with a
// comparer that has suffixes, tables that have the prefix of the key.
func (r CacheReport) Fits() bool {
	return r.Fault == "" && r.old() == "" && r.fitsFiles() && r.fitsCache()
}

func (r CacheReport) fitsCache() bool { return r.required(r.Cache) == r.Cache }

func (r CacheReport) fitsFiles() bool { return r.OpenFiles < 0 || r.requiredFiles() <= r.OpenFiles }

// others returns how many tables have no filter and need none by the options, and how many hide
// theirs.
func (r CacheReport) others() (none, unknown int) {
	for _, l := range r.Levels {
		none, unknown = none+l.None-min(l.Old, l.None), unknown+l.Unknown
	}
	return none, unknown
}

// old says how many tables are old, if any.
func (r CacheReport) old() string {
	var levels []string
	old, none, bytes := 0, 0, uint64(0)
	for level, l := range r.Levels {
		if l.Old > 0 {
			levels = append(levels, fmt.Sprintf("%d in L%d", l.Old, level))
		}
		old, none, bytes = old+l.Old, none+min(l.Old, l.None), bytes+l.OldBytes
	}
	lack, read := "no filter", "lookups read them"
	switch {
	case old == 0:
		return ""
	case none < old:
		lack, read = "no filter, another one or no mark", "lookups may read them"
	}
	remedy := fmt.Sprintf("Rewrite gives them filters while the database is in use, if Configure was "+
		"called before pebble.Open. It writes their %.1f MiB anew, with what lies above them",
		float64(bytes)/mib)
	if r.NoRewrite != "" {
		remedy = r.NoRewrite
	}
	return fmt.Sprintf("%d of %d tables have %s (%s): %s. %s",
		old, r.Tables, lack, strings.Join(levels, ", "), read, remedy)
}

const mib = 1 << 20

// String says whether there are filters, whether tables stay open, and whether filters and indexes
// fit: a line each, with what to set if something is wrong.
func (r CacheReport) String() string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if r.Fault != "" {
		add("%s", r.Fault)
	}
	if old := r.old(); old != "" {
		add("%s", old)
	}
	if r.Tables == 0 {
		add("there are no tables yet: print the report again when there are some")
	}
	none, unknown := r.others()
	if none > 0 && r.Fault == "" {
		add("%d tables have no filter, as the options say or for one prefix alone: lookups read them",
			none)
	}
	if unknown > 0 {
		add("%d tables are virtual, whose filters Pebble does not report: what follows is without "+
			"them", unknown)
	}
	switch {
	case r.OpenFiles < 0:
		add("the options have a file cache, whose size Pebble does not report")
	case r.fitsFiles():
		add("the file cache (%d tables) has room for %d tables", r.OpenFiles, r.Tables)
	default:
		add("the file cache (%d tables) is too small for %d tables and a quarter more, so lookups "+
			"open some again and again: set Options.MaxOpenFiles to %d, if the process may open as "+
			"many files (ulimit -n), or make tables larger with their target file size",
			r.OpenFiles, r.Tables, r.requiredFiles()+10) // 10 may be no tables
	}
	verdict := "has room"
	if !r.fitsCache() {
		verdict = fmt.Sprintf("is too small: set Options.Cache to pebble.NewCache(%d << 20), or more "+
			"for the data. It needs room", r.round(r.Cache))
	}
	add("the block cache (%.1f MiB) %s for two memtables (%.1f MiB together), filters and indexes "+
		"(%.1f MiB) twice, and the largest of them (%.2f MiB) in each of its %d shards",
		float64(r.Cache)/mib, verdict, float64(r.MemTables)/mib, float64(r.Filters+r.Indexes)/mib,
		float64(r.Largest)/mib, shards(r.Cache))
	add("this is for one database: if several share a cache, add up their CacheReport.Required")
	return strings.Join(lines, "\n")
}
