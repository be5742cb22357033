package pebblev2

import (
	"bytes"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// A probe looks a key up in memtables and filters, those of L6 too, and reads no data.
//
// It is an iterator with itself as BlockPropertyFilter. For a seek, Pebble consults first a table's
// filter, then the probe about the block that may have the key, and only then reads that block. The
// probe excludes the block and notes it, so that after the seek it knows what Pebble would have
// read: nothing, blocks of one table, or of several.
//
// INVARIANT: a probe notes every block that it excludes, and excludes no whole table, whatever the
// table says. To let a block through is always right and only costs a read. So a table without the
// mark, which Pebble reads without consulting the probe, costs reads and no key.
//
// A probe belongs to one lookup, or to the lookups of one HasAll. It is not safe for concurrent
// use.
type probe struct {
	iter    *pebble.Iterator
	options pebble.IterOptions
	filters [2]pebble.BlockPropertyFilter // the probe, and room for the one that Pebble appends

	used bool // it has looked up a key, so tables may be open that Pebble will not announce

	// Of the seek that goes on, or the last one:
	read     bool // no block is excluded
	excluded int  // how many tables had blocks excluded
	counted  bool // the table that Pebble is in is one of them
}

// probes are the probes that no iterator uses.
var probes = sync.Pool{New: func() any {
	p := new(probe)
	p.filters[0] = p
	p.options = pebble.IterOptions{UseL6Filters: true, PointKeyFilters: p.filters[:1]}
	return p
}}

// newProbe returns a probe of what r contains now. The caller must close it, or leave it to the
// garbage collector with its iterator.
func newProbe(r pebble.Reader) (*probe, error) {
	p := probes.Get().(*probe)
	iter, err := r.NewIter(&p.options)
	if err != nil {
		return nil, err
	}
	p.iter, p.used = iter, false
	if iter.Error() != nil { // so does Pebble v1 say that a batch is not indexed
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
// never nil: Pebble slices it from a string that has at least a number before it. So nil alone
// tells a block, and not a length of 0, which a forged mark may have. Pebble would not open such a
// table in a second seek either, if it were excluded in the first.
func (p *probe) Intersects(property []byte) (bool, error) {
	switch {
	case property != nil: // a table's, or one that other tables give their blocks
		p.counted = false
		return true, nil
	case p.read:
		return true, nil
	case !p.counted:
		p.counted = true
		p.excluded++
	}
	return false, nil
}

// SyntheticSuffixIntersects implements pebble.BlockPropertyFilter for tables whose keys get another
// suffix as they are read. Which keys a table has is no concern of a probe.
func (p *probe) SyntheticSuffixIntersects(property, _ []byte) (bool, error) {
	return p.Intersects(property)
}

// A finding is what a seek tells about a key.
type finding int

const (
	unknown  finding = iota // only Reader.Get can tell, or a read failed: close returns the error
	absent                  // no version of the key is visible
	present                 // the iterator stands at the key
	oneTable                // it is in one table or nowhere
)

// seek looks for a key, and reads data only if read is set. What it finds depends on where the
// iterator stands and on the tables that had blocks excluded:
//
//	iterator at   excluded    finding
//	nothing       none        absent: memtables and filters have said so
//	the key       none        present: the iterator has merged all its versions
//	other bytes   none        unknown: only the comparer knows whether they are equal
//	nothing       one table   oneTable: to seek again and read there takes one block
//	anything      otherwise   unknown: Reader.Get stops at the newest version
//
// Two tables that were open before the seek would count as one. So if p was used, even one may be
// several.
func (p *probe) seek(key []byte, read bool) finding {
	if len(key) == 0 {
		// Iterators do not stay within an empty prefix. In a program built with -race, Pebble takes
		// that for a fatal error.
		return unknown
	}
	p.read, p.excluded, p.counted = read, 0, false
	found, able := seekPrefix(p.iter, key)
	switch {
	case !able || p.iter.Error() != nil:
		return unknown
	case !found && p.excluded == 0:
		return absent
	case found && p.excluded == 0 && bytes.Equal(p.iter.Key(), key):
		return present
	case !found && p.excluded == 1 && !p.used:
		return oneTable
	}
	return unknown
}

// find looks for a key as seek does, and reads where it is in one table or nowhere. So absent and
// present are certain, and oneTable does not occur.
//
// The second seek takes the same iterator, which spares the making of another one. A seek to the
// same key takes no shortcut from where the iterator stands: it positions every table anew, and now
// nothing is excluded.
//
// After absent and present p may look up other keys, because the last seek excluded nothing. After
// unknown it must not: Pebble takes a table whose blocks were excluded for exhausted, and does not
// look there for a larger key.
func (p *probe) find(key []byte) finding {
	f := p.seek(key, false)
	if f == oneTable {
		f = p.seek(key, true)
	}
	p.used = true
	return f
}
