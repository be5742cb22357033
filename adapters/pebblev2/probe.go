package pebblev2

import (
	"bytes"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// A probe looks a key up in memtables, filters, and blocks that are in the cache.
//
// It is an iterator with itself as BlockPropertyFilter. For a seek, Pebble consults first a table's
// filter, then the probe about the block that may have the key, and only then loads that block. The
// probe lets the block through if this seek has loaded something, and all of that came from the
// cache. Otherwise it excludes the block and notes it. If a seek excluded nothing, the iterator's
// answer is complete. If not, the lookup calls Reader.Get, which reads what it always reads.
//
// INVARIANT: a probe notes every block and every table that it excludes. Letting a block through is
// always safe; it costs a read. So does a table without the mark, which Pebble reads without
// consulting the probe.
//
// Has and Get need only the newest version of a key: see findNewest, which excludes whole tables.
//
// Whether a block was in the cache is known only once it is loaded. So a seek can read one block
// that Reader.Get does not, of data or of an index: for an older version of the key, for a false
// positive or, below a range deletion, for the end of the deleted range. The probe's credit bounds
// how many seeks do: see readPrice.
//
// Pebble does not count what an iterator loads of tables that were ingested and not yet flushed. An
// iterator visits them first, so a seek that has loaded nothing lets no block through.
//
// A probe belongs to one call of Has, HasMany or another lookup.
type probe struct {
	iter      *pebble.Iterator
	options   pebble.IterOptions
	filters   [2]pebble.BlockPropertyFilter // the probe, and room for the one that Pebble appends
	excluded  bool                          // a block was, in the last seek
	tables    int                           // exclude all after so many that gave blocks; 0: none
	skippedAt uint64                        // what iter had loaded when a table was; 0: none was
	room      int                           // how many blocks more the seek may let through
	roomThen  int                           // room when the last table was opened
	loaded    uint64                        // bytes of blocks that iter had loaded before this seek
	read      uint64                        // of these, how many it had read from files
	credit    int                           // of find, and kept while the probe is in the pool
	pause     int                           // of findNewest, for how many keys, and kept like credit
}

// readPrice is what a find that reads from a file costs of its probe's credit. Each key earns 1, up
// to four times the price, and with less than the price no block is let through, but in a second
// find of the same key. So over all keys, at most one block in readPrice keys is read that
// Reader.Get does not read. Tests change it.
var readPrice = 512

// longestPause is for how many keys findNewest looks into all tables, after a deletion or a merge.
// Without it, deleted keys take half as long again (BenchmarkLookup). Tests change it.
var longestPause = 16

// mostBlocks is how many blocks a seek may let through: more than it needs, unless an iterator has
// to step over many deleted versions of a prefix, where Reader.Get goes to the one that it wants.
const mostBlocks = 16

// probes are the probes that no iterator uses.
var probes = sync.Pool{New: func() any {
	p := new(probe)
	p.filters[0] = p
	p.options = pebble.IterOptions{UseL6Filters: true, PointKeyFilters: p.filters[:1]}
	return p
}}

// newProbe returns a probe of what r contains now. The caller must close it.
func newProbe(r pebble.Reader) (*probe, error) {
	p := probes.Get().(*probe)
	p.loaded, p.read, p.tables, p.skippedAt = 0, 0, 0, 0
	iter, err := r.NewIter(&p.options)
	if err != nil {
		return nil, err
	}
	p.iter = iter
	if iter.Error() != nil { // Pebble v1 reports here that a batch is not indexed
		return nil, p.close()
	}
	return p, nil
}

// close closes the iterator and gives p back to the pool. It returns the error of the last seek, if
// that failed.
func (p *probe) close() error {
	err := p.iter.Close()
	probes.Put(p)
	return err
}

// Name implements pebble.BlockPropertyFilter: p is consulted about tables with the mark.
func (p *probe) Name() string { return markName }

// Intersects implements pebble.BlockPropertyFilter. Pebble calls it for a table when it opens it,
// with the mark's property, and then for each block, index blocks of two-level indexes too, before
// it reads that.
//
// Marked tables give their blocks no property, for which Pebble passes nil. A table's property is
// never nil: Pebble slices it from a string that begins with a number. Only nil tells a block; a
// length of 0 does not, because a forged mark may have it.
func (p *probe) Intersects(property []byte) (bool, error) {
	if property != nil { // a table's, or one that other tables give their blocks
		if p.room < p.roomThen && p.tables > 0 {
			p.roomThen = p.room
			if p.tables--; p.tables == 0 {
				p.skippedAt, _ = p.loads() // above 0, for it gave a block
			}
		}
		return p.skippedAt == 0, nil
	}
	if p.room > 0 && !p.excluded {
		if loaded, read := p.loads(); loaded != p.loaded && read == p.read {
			p.room--
			return true, nil
		}
	}
	p.excluded = true
	return false, nil
}

// SyntheticSuffixIntersects implements pebble.BlockPropertyFilter for tables whose keys get another
// suffix as they are read. A probe does not depend on a table's keys.
func (p *probe) SyntheticSuffixIntersects(property, _ []byte) (bool, error) {
	return p.Intersects(property)
}

// A finding is what a seek tells about a key.
type finding int

const (
	unknown finding = iota // only Reader.Get can tell, or a read failed: close returns the error
	older                  // versions in excluded tables may tell
	absent                 // no version of the key is visible
	present                // the iterator stands at the key
)

// loads returns how many bytes of blocks iter has loaded, and how many of these it read from files
// because they were not in the cache.
func (p *probe) loads() (loaded, read uint64) {
	s := p.iter.Stats().InternalStats
	return s.BlockBytes, s.BlockBytes - s.BlockBytesInCache
}

// find is seek, but looks into blocks too, as long as they are in the cache and p has credit.
func (p *probe) find(key []byte) finding { return p.findIf(key, p.credit >= readPrice) }

// findIf is find, but mayRead says whether p may look into blocks.
func (p *probe) findIf(key []byte, mayRead bool) finding {
	if mayRead {
		p.room = mostBlocks
	}
	p.roomThen = p.room
	f := p.seek(key)
	before := p.read
	p.loaded, p.read = p.loads()
	if mayRead && p.read != before {
		p.credit -= readPrice
	}
	if f != older { // for which another find of the key follows
		p.credit = min(p.credit+1, 4*readPrice)
	}
	p.room = 0
	return f
}

// findNewest finds key with a probe of its own, which the caller must close if err is nil. Like
// Reader.Get, it needs the newest version only, unless that is a deletion or a merge's operand.
// So once a table gave a block, the probe excludes all tables that Pebble opens after that.
//
// INVARIANT: what an iterator opens later in a seek has only older versions of the key. It goes
// through the batch, the memtables and the tables of L0, each from the newest to the oldest, and
// through L1 to L6 (TestNewestFirst). Pebble keeps them in that order: no flush, compaction or
// ingestion puts a version of a key below an older one. So if the iterator then stands at the key,
// that is the newest version, unless
//
//   - it has taken a step: from a deletion, or from an operand of a merge, to older versions, or
//   - it has loaded a block since the first table was excluded: of a table without the mark, which
//     may have an older version than an excluded one (TestUnmarkedBelowMarked).
//
// In these cases, and if it stands elsewhere, because of a false positive or a snapshot, another
// probe looks into two tables, and leaves it to Reader.Get if that is not enough. Where keys are
// deleted or merged, the first is mostly in vain: then no table is excluded for longestPause keys.
func findNewest(r pebble.Reader, key []byte) (p *probe, f finding, err error) {
	if p, err = newProbe(r); err != nil {
		return nil, unknown, err
	}
	if p.pause > 0 {
		p.pause--
		return p, p.find(key), nil
	}
	p.tables = 1
	if f = p.find(key); f != older {
		return p, f, nil
	}
	if p.iter.Stats().InternalStats.PointCount > 0 { // no false positive
		p.pause = longestPause
	}
	if err = p.close(); err != nil {
		return nil, unknown, err
	}
	if p, err = newProbe(r); err != nil {
		return nil, unknown, err
	}
	p.tables = 2
	if f = p.findIf(key, true); f == older {
		f = unknown
	}
	return p, f, nil
}

// seek looks for a key. What it finds depends on where the iterator stands and on whether a block
// was excluded:
//
//	iterator at   excluded   finding
//	nothing       no         absent: memtables, filters and blocks have said so
//	the key       no         present: the iterator has merged all its versions
//	other bytes   no         unknown: only the comparer knows whether they are equal
//	anything      yes        unknown: the block may have the key, or a newer version of it
//
// If tables were excluded, absent becomes older, and so does present unless isNewest.
//
// After absent and present p may look up other keys. After unknown it must not: Pebble takes a
// table whose blocks were excluded for exhausted, and does not look there for a larger key.
func (p *probe) seek(key []byte) finding {
	// Iterators do not stay within an empty prefix, which Pebble built with -race takes for a fatal
	// error.
	if len(key) == 0 {
		return unknown
	}
	p.excluded = false
	found, can := seekPrefix(p.iter, key)
	switch {
	case !can || p.excluded || p.iter.Error() != nil:
		return unknown
	case p.skippedAt > 0 && !(found && p.isNewest()):
		return older
	case !found:
		return absent
	case bytes.Equal(p.iter.Key(), key):
		return present
	}
	return unknown
}

// isNewest reports whether iter, after a seek that excluded tables, stands at the newest version of
// the key that it found.
func (p *probe) isNewest() bool {
	loaded, _ := p.loads()
	steps := p.iter.Stats().ForwardStepCount[pebble.InternalIterCall]
	return loaded == p.skippedAt && steps == 0
}
