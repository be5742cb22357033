package sstable

import (
	"bytes"
	"cmp"
	"encoding/binary"
)

// A keyFormat says what the keys of a table are.
type keyFormat bool

const (
	plainKeys    keyFormat = false // as a table builder without a database was given them
	internalKeys keyFormat = true  // those of a database: with a trailer, which filters leave out
)

const internalTrailerLen = 8

// userKey returns the part of a stored key that filters have; ok is false if the key is too short.
func (f keyFormat) userKey(stored []byte) (user []byte, ok bool) {
	if f == plainKeys {
		return stored, true
	}
	if len(stored) < internalTrailerLen {
		return nil, false
	}
	return stored[:len(stored)-internalTrailerLen], true
}

// compare orders stored keys as LevelDB's default comparer does: internal keys with equal user keys
// by descending trailer. REQUIRES: both are of this format.
func (f keyFormat) compare(a, b []byte) int {
	userA, _ := f.userKey(a)
	userB, _ := f.userKey(b)
	if c := bytes.Compare(userA, userB); c != 0 || f == plainKeys {
		return c
	}
	return cmp.Compare(trailer(b), trailer(a))
}

// trailer returns sequence number * 256 + type. REQUIRES: len(stored) >= internalTrailerLen.
func trailer(stored []byte) uint64 {
	return binary.LittleEndian.Uint64(stored[len(stored)-internalTrailerLen:])
}

// inferKeys applies the rule in the package comment.
func (t *Table) inferKeys() {
	var index, data keyInference
	for i := range t.index.len() {
		index.add(t.index.key(i))
	}
	if t.index.len() > 0 {
		blocks := t.blocks
		for e, err := range entriesOf(blocks.read(t.index.handles[0])) {
			if err == nil { // otherwise Entries returns it
				data.add(e.key)
			}
		}
	}
	mostCan := index.can+data.can > index.cannot+data.cannot
	t.keys = keyFormat(mostCan && !index.short && !data.short)
	t.inDoubt = index.short && data.can > data.cannot && !data.short
}

// A keyInference counts the keys that can be internal.
type keyInference struct {
	before      []byte
	can, cannot int
	short       bool // a key is too short
}

// add looks at a key. The keys of a block must come in its order.
func (g *keyInference) add(stored []byte) {
	const value = 1 // the types are this and 0, a deletion
	user, ok := internalKeys.userKey(stored)
	if !ok {
		g.short = true
		return
	}
	t := trailer(stored)
	before, _ := internalKeys.userKey(g.before)
	inOrder := g.before == nil || !bytes.Equal(before, user) || t < trailer(g.before)
	if t&0xff <= value && t>>8 > 0 && inOrder {
		g.can++
	} else {
		g.cannot++
	}
	g.before = append(g.before[:0], stored...)
}
