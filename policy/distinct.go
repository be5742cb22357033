package policy

import "bytes"

// NewDistinctBuilder returns a builder of p for engines that add a key once for each of its
// versions, all in a row, as Pebble does. It leaves out repetitions, so that the size of a filter
// follows the number of keys, and Len does not count them.
//
// A builder of this package compares hashes, which it has at hand, and not keys. So of two
// different keys in a row whose hashes are equal, only one counts. No key is lost: the bits of both
// are the same. The filter may be smaller by the bits of one key, which happens once in 2^32 keys
// with [Bloom], and once in 2^64 with other kinds. For a builder that keeps no hashes,
// NewDistinctBuilder keeps a copy of the last key, and passes on each key that differs from it.
//
// It panics if [Check] refuses p.
func NewDistinctBuilder(p Policy) Builder {
	if err := Check(p); err != nil {
		panic(err)
	}
	if c, ok := p.(*Counted); ok {
		return c.newBuilder(NewDistinctBuilder)
	}
	b := p.NewBuilder()
	if h, ok := b.(hashingBuilder); ok {
		h.LeaveOutRepetitions()
		return b
	}
	return &distinctBuilder{Builder: b}
}

// A hashingBuilder keeps its keys' hashes, and can compare them.
type hashingBuilder interface{ LeaveOutRepetitions() }

// distinctBuilder leaves out keys that equal the one before.
type distinctBuilder struct {
	Builder
	last    []byte // a copy of the last key
	started bool   // last is a key; it may be an empty one
}

func (b *distinctBuilder) Add(key []byte) {
	if b.started && bytes.Equal(key, b.last) {
		return
	}
	b.Builder.Add(key)
	b.last = append(b.last[:0], key...)
	b.started = true
}

func (b *distinctBuilder) Finish(dst []byte) []byte {
	b.started = false
	return b.Builder.Finish(dst)
}
