package pebblev2

import (
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// MayContain reports whether r may contain key: false is certain. It looks into memtables and into
// the filters of all levels, and reads no data of tables that have the mark of [Configure].
//
// True may be wrong: by a false positive, for a deleted key while a table still has an older
// version and, with a comparer that has suffixes, for a key whose prefix a table has. See [Has] for
// the requirements on r and the cache.
func MayContain(r pebble.Reader, key []byte) (bool, error) {
	p, err := newProbe(r)
	if err != nil {
		return false, err
	}
	f := p.seek(key)
	err = p.close()
	return f != absent && err == nil, err
}

// Has reports whether r.Get finds key, but consults the filters of L6 too. For a key that was never
// written it reads a table only if a filter gives a false positive. r.Get reads a block of L6 for
// nearly each such key.
//
// Has looks into memtables, filters, and blocks that are in the cache, and calls r.Get only if
// these do not tell. On average, at most one call in 512 reads one block more than r.Get, under two
// conditions:
//
//   - All tables are open, and filters, top-level indexes and range deletions are in the block
//     cache, and stay there: see [Check]. Otherwise Has loads whole filters, also those of L6
//     and the large ones of ingested tables, which r.Get never reads.
//   - The tables carry the mark of [Configure]. Without it, Has reads a block for each level that
//     may contain a version of key, as an iterator does. [Rewrite] gives tables filters and marks.
//
// If everything is cached, Has takes about as long as r.Get for a present or deleted key, and less
// time for an absent one. For a key that was written a moment ago and is still in a memtable, it
// takes several times as long, since r.Get stops there (BenchmarkLookup). Where nearly all keys are
// present, call r.Get. For a deleted key, both read each older version that a table still contains.
//
// r is a DB, a Snapshot, an EventuallyFileOnlySnapshot or an indexed Batch. Has may run
// concurrently with whatever r.Get may. If key is absent, the error is nil, not pebble.ErrNotFound.
// If a read fails, Has returns its error.
//
// Pebble samples the keys that Has finds without r.Get, and may start compactions because of them,
// unless Options.Experimental.ReadSamplingMultiplier is -1.
func Has(r pebble.Reader, key []byte) (bool, error) {
	p, f, err := findNewest(r, key)
	if err == nil {
		err = p.close()
	}
	if err != nil || f != unknown {
		return err == nil && f == present, err
	}
	return hasByGet(r, key)
}

// Get returns what r.Get(key) returns, and reads as few blocks as [Has]. The error is
// pebble.ErrNotFound if key is absent. If it is nil, the caller must close closer. value is valid
// until then, and must not be modified.
func Get(r pebble.Reader, key []byte) (value []byte, closer io.Closer, err error) {
	p, f, err := findNewest(r, key)
	if err != nil {
		return nil, nil, err
	}
	if f == present {
		if value, err = p.iter.ValueAndErr(); err == nil {
			return value, &probeCloser{p}, nil
		}
	}
	if err := p.close(); err != nil { // also that of ValueAndErr
		return nil, nil, err
	}
	if f == absent {
		return nil, nil, pebble.ErrNotFound
	}
	return readerGet(r, key)
}

// A probeCloser closes a probe once. Closed again, it does nothing: by then the probe may belong to
// another lookup.
type probeCloser struct{ probe *probe }

func (c *probeCloser) Close() error {
	p := c.probe
	if p == nil {
		return nil
	}
	c.probe = nil
	return p.close()
}

// HasMany reports for each key whether r.Get finds it. It reads as few blocks as [Has] for each
// key. It takes much less time than that for absent keys, and for present ones that lie close to
// each other, if they are sorted. For present keys far apart it takes about as long, and longer for
// keys with several versions, since it looks into all tables that may have a key.
//
// It holds one iterator while it runs, which keeps memtables and tables from being removed. If r is
// a DB, the answers may be of different moments while others write: pass a Snapshot if they must
// not. If a read fails, HasMany returns its error and no answers.
func HasMany(r pebble.Reader, keys [][]byte) ([]bool, error) {
	found := make([]bool, len(keys))
	if err := hasMany(r, keys, found); err != nil {
		return nil, err
	}
	return found, nil
}

// hasMany sets found for each key.
func hasMany(r pebble.Reader, keys [][]byte, found []bool) (err error) {
	var p *probe // nil before the first key, and after one that left it useless
	for i, key := range keys {
		if p == nil {
			if p, err = newProbe(r); err != nil {
				return err
			}
		}
		f := p.find(key)
		found[i] = f == present
		if f == unknown {
			if err = p.close(); err == nil {
				found[i], err = hasByGet(r, key)
			}
			if err != nil {
				return err
			}
			p = nil
		}
	}
	if p != nil {
		err = p.close()
	}
	return err
}

// readerGet is r.Get, but returns the error if the value cannot be read. Pebble's own Get returns
// an empty value then, and only the closer's Close returns the error.
func readerGet(r pebble.Reader, key []byte) (value []byte, closer io.Closer, err error) {
	value, closer, err = r.Get(key)
	if iter, ok := closer.(*pebble.Iterator); ok && err == nil && iter.Error() != nil {
		return nil, nil, iter.Close()
	}
	return value, closer, err
}

// hasByGet is Has by r.Get alone.
func hasByGet(r pebble.Reader, key []byte) (bool, error) {
	_, closer, err := r.Get(key)
	if err == pebble.ErrNotFound {
		return false, nil
	}
	if err == nil {
		err = closer.Close()
	}
	return err == nil, err
}
