package goleveldb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/filter"
)

// The keys in the tables of a database are internal ones, as in C++ LevelDB (db/dbformat.h): the user's key and a
// trailer of 8 bytes, the little-endian number sequence<<8 | kind. They are sorted by the user's key, and for equal ones
// by the trailer's number, the larger (newer) first. goleveldb does not export any of this.
const (
	trailerLen   = 8
	kindDeletion = 0
	kindValue    = 1
	maxTrailer   = 1<<64 - 1<<8 | kindValue // where a search for a key begins: no version of it sorts before
)

// An InternalKey is the key of one entry in a table of a database.
type InternalKey struct {
	User     []byte // the key as the user wrote it
	Sequence uint64 // the number of the write; of two versions of a key, the one with the larger number is newer
	Deleted  bool   // the entry says that the key was deleted, and has no value
}

// ParseInternalKey takes apart a key from a database's table. User shares the memory of key. It returns an error if key
// is too short, or is neither a value nor a deletion.
func ParseInternalKey(key []byte) (InternalKey, error) {
	if len(key) < trailerLen {
		return InternalKey{}, fmt.Errorf("goleveldb: internal key %x of %d bytes: it has at least %d", key, len(key), trailerLen)
	}
	trailer := trailerOf(key)
	kind := byte(trailer)
	if kind != kindDeletion && kind != kindValue {
		return InternalKey{}, fmt.Errorf("goleveldb: internal key %x of kind %d: it is %d for a deletion or %d for a value",
			key, kind, kindDeletion, kindValue)
	}
	return InternalKey{User: userKey(key), Sequence: trailer >> 8, Deleted: kind == kindDeletion}, nil
}

// SearchKey returns the internal key at which the versions of a user's key begin in a table, the newest first. Find and
// Seek return the next key if there is none: compare [InternalKey].User.
func SearchKey(user []byte) []byte {
	key := make([]byte, 0, len(user)+trailerLen)
	return binary.LittleEndian.AppendUint64(append(key, user...), maxTrailer)
}

// REQUIRES of both: len(key) >= trailerLen.
func userKey(key []byte) []byte   { return key[:len(key)-trailerLen] }
func trailerOf(key []byte) uint64 { return binary.LittleEndian.Uint64(key[len(key)-trailerLen:]) }

// ForInternalKeys returns a filter for reading and writing the tables of a database through table.NewReader and
// table.NewWriter; [TableOptions] sets it together with the comparer that they need. The keys there are internal ones,
// the user's key and 8 bytes, while the filters are made of the user's keys: with the bare f, Find(key, true) would miss
// nearly every key of the table. The returned filter removes the 8 bytes and has the name of f. It is as safe for
// concurrent use as f.
//
// It is not for the options of a database, which removes the 8 bytes by itself: the filters would then be made of
// mutilated keys, and later readers would lose keys.
//
// A key shorter than 8 bytes is no internal key. Contains answers that the filter may contain it. Add adds it whole,
// which keeps the filter from being the one of no keys.
//
// ForInternalKeys panics if f is nil.
func ForInternalKeys(f filter.Filter) filter.Filter {
	if f == nil {
		panic("goleveldb: ForInternalKeys of a nil filter: pass one, such as New returns")
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

// internalComparer orders internal keys, with the user's comparer for the user's part.
type internalComparer struct{ user comparer.Comparer }

var _ comparer.Comparer = internalComparer{}

func (c internalComparer) Name() string { return c.user.Name() }

// Compare puts keys that are too short for a trailer, which only a damaged table has, before all others.
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

// Separator and Successor shorten the user's part as the database does: the same entries make the same index blocks.
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

// shortened returns the internal key of user, if that is worth it: if it is shorter than the key that it stands for, and
// larger. Otherwise it returns nil, for which goleveldb takes the key itself.
func (c internalComparer) shortened(user, of []byte) []byte {
	if user == nil || len(user) >= len(of) || c.user.Compare(of, user) >= 0 {
		return nil
	}
	return binary.LittleEndian.AppendUint64(user, maxTrailer)
}
