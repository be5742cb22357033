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
// INVARIANT: a probe notes every block that it excludes, and excludes no whole table, whatever the
// table says. Letting a block through is always safe; it costs a read. So does a table without the
// mark, which Pebble reads without consulting the probe.
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
	iter     *pebble.Iterator
	options  pebble.IterOptions
	filters  [2]pebble.BlockPropertyFilter // the probe, and room for the one that Pebble appends
	excluded bool                          // a block was, in the last seek
	room     int                           // how many blocks more the seek may let through
	loaded   uint64                        // bytes of blocks that iter had loaded before this seek
	read     uint64                        // of these, how many it had read from files
	credit   int                           // of find, and kept while the probe is in the pool
}

// readPrice is what a find that reads from a file costs of its probe's credit. Each find earns 1,
// up to four times the price, and a find with less than the price lets no block through. So over
// all finds of a probe, at most one in readPrice reads a block that Reader.Get does not. Tests
// change it.
var readPrice = 512

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
	iter, err := r.NewIter(&p.options)
	if err != nil {
		return nil, err
	}
	p.iter, p.loaded, p.read = iter, 0, 0
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
		return true, nil
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
func (p *probe) find(key []byte) finding {
	mayRead := p.credit >= readPrice
	if mayRead {
		p.room = mostBlocks
	}
	f := p.seek(key)
	before := p.read
	p.loaded, p.read = p.loads()
	if mayRead && p.read != before {
		p.credit -= readPrice
	}
	p.credit = min(p.credit+1, 4*readPrice)
	p.room = 0
	return f
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
	case !found:
		return absent
	case bytes.Equal(p.iter.Key(), key):
		return present
	}
	return unknown
}
