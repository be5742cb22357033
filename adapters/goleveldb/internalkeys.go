package goleveldb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/filter"
)

// The tables of a database contain internal keys, as in C++ LevelDB (db/dbformat.h): the user's key
// and a trailer of 8 bytes, the little-endian number sequence<<8 | kind. They are sorted by the
// user's key, then by the trailer's number, the larger (newer) first. goleveldb exports none of
// this.
const (
	trailerLen   = 8
	kindDeletion = 0
	kindValue    = 1
	maxTrailer   = 1<<64 - 1<<8 | kindValue // sorts before all versions of a key
)

// An InternalKey is the key of one entry in a table of a database.
type InternalKey struct {
	User     []byte // the key as the user wrote it
	Sequence uint64 // the number of the write: a newer version of a key has a larger one
	Deleted  bool   // the entry is a deletion, and has no value
}

// ParseInternalKey splits a key from a database's table. User shares the memory of key. It returns
// an error if key is too short, or is neither a value nor a deletion.
func ParseInternalKey(key []byte) (InternalKey, error) {
	if len(key) < trailerLen {
		return InternalKey{}, fmt.Errorf("goleveldb: internal key %x has %d bytes, not at least %d",
			key, len(key), trailerLen)
	}
	trailer := trailerOf(key)
	kind := byte(trailer)
	if kind != kindDeletion && kind != kindValue {
		return InternalKey{}, fmt.Errorf("goleveldb: internal key %x has kind %d, "+
			"not %d for a deletion or %d for a value", key, kind, kindDeletion, kindValue)
	}
	return InternalKey{
		User:     userKey(key),
		Sequence: trailer >> 8,
		Deleted:  kind == kindDeletion,
	}, nil
}

// SearchKey returns the internal key before all versions of a user's key, the newest of which comes
// first. Find and Seek return the next key if the key is absent: compare [InternalKey].User.
func SearchKey(user []byte) []byte {
	key := make([]byte, 0, len(user)+trailerLen)
	return binary.LittleEndian.AppendUint64(append(key, user...), maxTrailer)
}

// REQUIRES of both: len(key) >= trailerLen.
func userKey(key []byte) []byte   { return key[:len(key)-trailerLen] }
func trailerOf(key []byte) uint64 { return binary.LittleEndian.Uint64(key[len(key)-trailerLen:]) }

// ForInternalKeys returns a filter for the tables of a database, opened through table.NewReader and
// table.NewWriter; [TableOptions] sets it together with the comparer that they need. The keys there
// are internal ones, the user's key and 8 bytes, but the filters contain the user's keys: with the
// bare f, Find(key, true) would miss nearly every key. The returned filter removes the 8 bytes and
// has the name of f. It is as safe for concurrent use as f.
//
// Do not use it in the options of a database: goleveldb removes the 8 bytes itself, so the filters
// would contain truncated keys, and later readers would lose keys.
//
// A key shorter than 8 bytes is not an internal key. Contains returns true for it. Add adds it
// whole, so that the filter is not that of no keys.
//
// ForInternalKeys panics if f is nil.
func ForInternalKeys(f filter.Filter) filter.Filter {
	if f == nil {
		panic("goleveldb: ForInternalKeys: the filter is nil: pass one such as New returns")
	}
	return internalKeys{f}
}

type internalKeys struct{ filter.Filter }

func (f internalKeys) Contains(filter, key []byte) bool {
	return len(key) < trailerLen || f.Filter.Contains(filter, userKey(key))
}

func (f internalKeys) NewGenerator() filter.FilterGenerator {
	return internalKeysGenerator{f.Filter.NewGenerator()}
}

type internalKeysGenerator struct{ filter.FilterGenerator }

func (g internalKeysGenerator) Add(key []byte) {
	if len(key) >= trailerLen {
		key = userKey(key)
	}
	g.FilterGenerator.Add(key)
}

// internalComparer orders internal keys by the user's comparer, then by age.
type internalComparer struct{ user comparer.Comparer }

var _ comparer.Comparer = internalComparer{}

func (c internalComparer) Name() string { return c.user.Name() }

// Compare sorts keys that are too short for a trailer before all others. Only damaged tables have
// any.
func (c internalComparer) Compare(a, b []byte) int {
	switch shortA, shortB := len(a) < trailerLen, len(b) < trailerLen; {
	case shortA && shortB:
		return bytes.Compare(a, b)
	case shortA:
		return -1
	case shortB:
		return 1
	}
	if order := c.user.Compare(userKey(a), userKey(b)); order != 0 {
		return order
	}
	return cmp.Compare(trailerOf(b), trailerOf(a))
}

// Separator and Successor shorten the user's part as the database does, so that the same entries
// give the same index blocks.
func (c internalComparer) Separator(dst, a, b []byte) []byte {
	if len(a) < trailerLen || len(b) < trailerLen {
		return nil
	}
	return c.shortened(c.user.Separator(dst, userKey(a), userKey(b)), userKey(a))
}

func (c internalComparer) Successor(dst, b []byte) []byte {
	if len(b) < trailerLen {
		return nil
	}
	return c.shortened(c.user.Successor(dst, userKey(b)), userKey(b))
}

// shortened returns an internal key of user if user is shorter than the key it replaces, and
// larger. Otherwise it returns nil, which makes goleveldb use the key itself.
func (c internalComparer) shortened(user, of []byte) []byte {
	if user == nil || len(user) >= len(of) || c.user.Compare(of, user) >= 0 {
		return nil
	}
	return binary.LittleEndian.AppendUint64(user, maxTrailer)
}
