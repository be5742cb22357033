package sstable

import (
	"bytes"
	"cmp"
	"encoding/binary"
)

// A KeyFormat says what the keys of a table are.
type KeyFormat int

const (
	// AutoKeys finds the format from the keys of the index and of the first data block. It takes
	// them as internal if all have at least 8 bytes, and most can be internal: their last 8 bytes
	// are a deletion or a value with a sequence number above 0, and the sequence numbers of equal
	// user keys decrease. Text cannot be internal, and few big-endian numbers can; plain keys of
	// other shapes might be mistaken. So [TableFilter.MayContain] tries the key in both formats,
	// and answers "absent" only if both do: a mistake never loses a key.
	AutoKeys KeyFormat = iota
	// InternalKeys end in a trailer of 8 bytes, which filters leave out. Databases have such keys.
	InternalKeys
	// PlainKeys have no trailer. A table builder without a database writes the keys it is given.
	PlainKeys
)

const internalTrailerLen = 8

// userKey returns the part of a stored key that filters have; ok is false if the key is too short.
func (f KeyFormat) userKey(stored []byte) (user []byte, ok bool) {
	if f != InternalKeys {
		return stored, true
	}
	if len(stored) < internalTrailerLen {
		return nil, false
	}
	return stored[:len(stored)-internalTrailerLen], true
}

// compare orders stored keys as LevelDB's default comparer does: internal keys with equal user keys
// by descending trailer. REQUIRES: both are of this format.
func (f KeyFormat) compare(a, b []byte) int {
	userA, _ := f.userKey(a)
	if c := f.compareUser(b, userA); c != 0 || f != InternalKeys {
		return -c
	}
	return cmp.Compare(trailer(b), trailer(a))
}

// compareUser compares the user's part of a stored key with a user key.
func (f KeyFormat) compareUser(stored, key []byte) int {
	user, _ := f.userKey(stored)
	return bytes.Compare(user, key)
}

// trailer returns sequence number * 256 + type. REQUIRES: len(stored) >= internalTrailerLen.
func trailer(stored []byte) uint64 {
	return binary.LittleEndian.Uint64(stored[len(stored)-internalTrailerLen:])
}

// A keyInference counts the keys that can be internal.
type keyInference struct {
	before        []byte
	can, canNever int
	short         bool // a key is too short
}

// add looks at a key. The keys of a block must come in its order.
func (g *keyInference) add(stored []byte) {
	const deletion, value = 0, 1
	user, ok := InternalKeys.userKey(stored)
	if !ok {
		g.short = true
		return
	}
	t := trailer(stored)
	inOrder := g.before == nil || InternalKeys.compareUser(g.before, user) != 0 ||
		t < trailer(g.before)
	if t&0xff <= value && t>>8 > 0 && inOrder {
		g.can++
	} else {
		g.canNever++
	}
	g.before = append(g.before[:0], stored...)
}

func (g *keyInference) format() KeyFormat {
	if g.can > g.canNever && !g.short {
		return InternalKeys
	}
	return PlainKeys
}
