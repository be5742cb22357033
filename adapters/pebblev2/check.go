package pebblev2

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

// A Report is what [Check] found. All is in order if it has no warnings.
type Report struct {
	// Levels counts the tables of L0 to L6. DB.Get does not consult the filters of L6.
	Levels [7]struct {
		Tables      int    // on disk
		Old         int    // of these, tables that lack what the options give new ones: see Rewrite
		FilterBytes uint64 // the size of filters; Pebble may not report those of virtual tables
	}
	// Required is the size of the block cache, in bytes, with which lookups of absent keys read next
	// to nothing, once no table is old. Data comes on top. For databases that share a cache, add up.
	Required uint64
	// RequiredFiles is the Options.MaxOpenFiles with which all tables stay open, and a quarter more.
	RequiredFiles int
	// Warnings say what makes lookups of absent keys read tables, and what to do, first things first.
	Warnings []string

	facts []string // what String says besides
	needs needs
}

// String returns the warnings and what else Check found, a line each.
func (r Report) String() string { return strings.Join(slices.Concat(r.Warnings, r.facts), "\n") }

// Check reports whether db can answer lookups of absent keys from memory, by the filters and marks
// that the options give, and what to do if not. o must be the options that db was opened with,
// after [Configure]. Check may run while db is in use, but not after its Close. It opens all
// tables: if there are more than MaxOpenFiles, that closes tables which lookups use. It returns
// Pebble's errors.
//
// It warns of options without filters or marks, of old tables, and of caches that are too small. A
// lookup opens each table that it comes to, unless that is among the open ones, some less than
// MaxOpenFiles. It reads the table's filter and index, unless the block cache has them. The cache
// consists of shards, and a filter that is larger than its shard is read each time. Memtables take
// their memory from the cache: if flushes are behind, MemTableStopWritesThreshold times
// MemTableSize. With Pebble's defaults that is the whole cache.
//
// Check assumes as many shards as pebble.NewCache makes. It cannot know whether other databases
// share the cache, how many tables a file cache of the options keeps open, or what more is taken
// from the cache by batches of half a memtable or more, and by memtables that open iterators keep.
// Without a warning, lookups still read tables of levels to which the options give no filters and,
// with a comparer that has suffixes, tables that have the prefix of the key.
func Check(o *pebble.Options, db *pebble.DB) (Report, error) {
	levels, err := db.SSTables(pebble.WithProperties())
	if err != nil {
		return Report{}, err
	}
	w, err := wantedOf(o)
	configured := err == nil
	if configured {
		err = lacksMark(o)
	}
	var r Report
	if err != nil {
		say(&r.Warnings, "%s", strings.TrimPrefix(err.Error(), "pebblev2: "))
	}
	r.needs.memTables = uint64(max(2, o.MemTableStopWritesThreshold)) * // Pebble's defaults
		cmp.Or(o.MemTableSize, 4<<20)
	var old []pebble.SSTableInfo
	var hidden string
	for level, tables := range levels {
		l := &r.Levels[level]
		if configured && len(tables) > 0 && w.filters[level] == nil {
			say(&r.facts, "the options give no filters to L%d: lookups may read its tables", level)
		}
		for _, t := range tables {
			p := t.Properties
			filter, index := p.FilterSize, p.IndexSize
			if p.IndexPartitions > 0 {
				index = p.TopLevelIndexSize // lookups of absent keys read no more of it
			}
			if index == 0 { // not reported of a virtual table: a key, and more, for each block
				index = p.NumDataBlocks * (p.RawKeySize/max(1, p.NumEntries) + 16)
			}
			l.Tables++
			l.FilterBytes += filter
			if configured && w.isOld(level, &t) {
				l.Old++
				old = append(old, t)
				filter = w.newSize(level, &t)
				if p.IndexSize == 0 {
					hidden = ", or are virtual, and Pebble does not report their filters"
				}
			}
			r.needs.tables++
			r.needs.blocks += filter + index
			r.needs.largest = max(r.needs.largest, filter+index)
		}
	}
	r.old(w, db, old, hidden)
	if r.needs.tables == 0 {
		say(&r.facts, "there are no tables yet: print the report again when there are some")
	}
	r.files(openFiles(o), r.needs.tables)
	r.cache(uint64(cacheSize(o)))
	return r, nil
}

// say adds a line.
func say(to *[]string, format string, args ...any) {
	*to = append(*to, fmt.Sprintf(format, args...))
}

// old warns of old tables; hidden is what it says besides of them.
func (r *Report) old(w wanted, db *pebble.DB, old []pebble.SSTableInfo, hidden string) {
	if len(old) == 0 {
		return
	}
	var levels []string
	for level, l := range r.Levels {
		if l.Old > 0 {
			levels = append(levels, fmt.Sprintf("%d in L%d", l.Old, level))
		}
	}
	remedy := fmt.Sprintf("Rewrite gives them filters while the database is in use, if Configure was "+
		"called before pebble.Open. It writes their %s anew, with what lies above them",
		sized(uint64(sizeOf(old))))
	w.sort(old)
	if err := w.check(db, old); err != nil {
		remedy = fmt.Sprintf("Rewrite would stop: %v", err)
	}
	say(&r.Warnings, "%d of %d tables have no filter, another one or no mark%s (%s): lookups may "+
		"read them. %s", len(old), r.needs.tables, hidden, strings.Join(levels, ", "), remedy)
}

// files warns if a database cannot keep all tables open, and a quarter more: Pebble divides its
// file cache into parts that do not fill evenly.
func (r *Report) files(open, tables int) {
	r.RequiredFiles = tables + tables/4 + 10 // 10 may be no tables
	switch {
	case open < 0:
		say(&r.facts, "the options have a file cache, whose size Pebble does not report")
	case tables+tables/4 <= open:
		say(&r.facts, "the file cache (%d tables) has room for %d tables", open, tables)
	default:
		say(&r.Warnings, "the file cache (%d tables) is too small for %d tables and a quarter more, so "+
			"lookups open some again and again: set Options.MaxOpenFiles to %d, if the process may open "+
			"as many files (ulimit -n), or make tables larger with their target file size",
			open, tables, r.RequiredFiles)
	}
}

// cache warns if a block cache of a size does not suffice.
func (r *Report) cache(size uint64) {
	n := r.needs
	r.Required = n.cache(0)
	to, verdict := &r.facts, "has room"
	if required := n.cache(size); required > size {
		to, verdict = &r.Warnings, fmt.Sprintf("is too small: set Options.Cache to "+
			"pebble.NewCache(%d << 20), or more for the data. It needs room", required/mib)
	}
	say(to, "the block cache (%s) %s for memtables (%s together), filters and indexes (%s) twice, "+
		"and the largest of them (%s) in each of its %d shards", sized(size), verdict,
		sized(n.memTables), sized(n.blocks), sized(n.largest), shards(size))
	say(&r.facts, "this is for one database: if several share a cache, add up their Report.Required")
}

// sized writes a number of bytes.
func sized(bytes uint64) string {
	if bytes < mib {
		return fmt.Sprintf("%d KiB", (bytes+1023)/1024)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/mib)
}

const mib = 1 << 20

// needs are what must stay in the block cache, in bytes.
type needs struct {
	memTables uint64 // as many as the options allow
	blocks    uint64 // filters, and what is read of the indexes before them
	largest   uint64 // filter with its index, for which each shard needs room
	tables    int
}

// cache returns the size of a cache with room for n: size, or more than that, in whole MiB. Few
// blocks spread over the shards unevenly: hence twice, and the largest one for each. A larger cache
// may have more shards. Pebble adds less than a KiB to the two blocks of a table.
func (n needs) cache(size uint64) uint64 {
	for {
		need := n.memTables + 2*(n.blocks+uint64(n.tables)<<10) + shards(size)*n.largest
		if size >= need {
			return size
		}
		size = (need + mib - 1) / mib * mib
	}
}

// shards returns how many shards pebble.NewCache gives a cache of that size.
func shards(size uint64) uint64 {
	if n := 4 * uint64(runtime.GOMAXPROCS(0)); size/n >= 4<<20 {
		return n
	}
	return 4
}
