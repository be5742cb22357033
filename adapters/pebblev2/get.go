package pebblev2

import (
	"bytes"
	"errors"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// Has reports whether r.Get finds key, but uses the filters of L6 too. It is for keys that are
// probably absent, such as new keys before they are written. With filters in all levels, looking up
// an absent key reads a table only for false positives; r.Get reads a block of L6 every time.
//
// For keys that are probably present, use r.Get. It stops at the newest version of the key. Has
// looks into every level, and reads a block for each one that still has an older version.
//
// Tables in L6 have filters if Configure was called with [WithL6] before they were written. Has is
// right without, but avoids no read in L6. The block cache must have room for the filters: see
// [CheckCache]. [FiltersOnDisk] shows which tables have filters. db.Metrics().Filter.Hits grows by
// one for each table that a filter excludes.
//
// r is a DB, a Snapshot, an EventuallyFileOnlySnapshot or an indexed Batch. Has may run
// concurrently with whatever r.Get may. If the key is absent, the error is nil, not
// pebble.ErrNotFound. If a read fails, Has returns its error. Has and r.Get read different blocks,
// so one may fail where the other does not. Has does not read values that Pebble stores apart from
// their keys.
//
// Has asks r.Get itself if it finds other bytes with the same prefix, because only the comparer
// knows whether the two are equal. It also does if key is empty, and if the comparer has no Split,
// which Pebble v1 allows; that costs a recovered panic.
func Has(r pebble.Reader, key []byte) (bool, error) {
	iter, err := find(r, key)
	var closer io.Closer = iter
	if err == errUndecided {
		_, closer, err = r.Get(key)
	}
	if err == pebble.ErrNotFound {
		return false, nil
	}
	if err == nil {
		err = closer.Close()
	}
	return err == nil, err
}

// Get returns what r.Get(key) returns, but uses the filters of L6 too. Use it as [Has], for keys
// that are probably absent.
//
// As with r.Get, the error is pebble.ErrNotFound if the key is absent. If the error is nil, closer
// must be closed; value is valid until then, and must not be modified.
func Get(r pebble.Reader, key []byte) (value []byte, closer io.Closer, err error) {
	iter, err := find(r, key)
	if err == errUndecided {
		return r.Get(key)
	}
	if err != nil {
		return nil, nil, err
	}
	value, err = iter.ValueAndErr()
	if err != nil {
		_ = iter.Close() // returns the same error
		return nil, nil, err
	}
	return value, iter, nil
}

// askL6 are the options of the iterators. NewIter copies them.
var askL6 = &pebble.IterOptions{UseL6Filters: true}

// errUndecided says that an iterator cannot tell whether a key exists. Reader.Get can.
var errUndecided = errors.New("pebblev2: the iterator cannot tell")

// find returns an iterator that stands at key, which the caller must close. Otherwise the error is
// pebble.ErrNotFound, errUndecided, or one of Pebble's.
//
// It does what EventuallyFileOnlySnapshot.Get does, with the filters of L6. Unlike that one it does
// not know the comparer: if the iterator stands at other bytes, they may be equal to key.
func find(r pebble.Reader, key []byte) (*pebble.Iterator, error) {
	if len(key) == 0 {
		// Iterators do not stay within an empty prefix. In a program built with -race, Pebble takes
		// that for a fatal error.
		return nil, errUndecided
	}
	iter, err := r.NewIter(askL6)
	if err != nil {
		return nil, err
	}
	found, able := seekPrefix(iter, key)
	if found && bytes.Equal(iter.Key(), key) {
		return iter, nil
	}
	if err := iter.Close(); err != nil { // also the error of the seek
		return nil, err
	}
	if found || !able {
		return nil, errUndecided
	}
	return nil, pebble.ErrNotFound
}
