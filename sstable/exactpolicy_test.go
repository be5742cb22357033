package sstable_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/levelbloom/levelbloom/policy"
)

// exact is a policy without chance, so that no false positive hides a fault: its filter is the list
// of its keys, each after its length in 4 bytes. Misuse fails the test.
type exact struct{ t testing.TB }

// A testPolicy writes and reads the filters of a table.
type testPolicy interface {
	Name() string
	NewBuilder() policy.Builder
	MayContain(filter, key []byte) bool
}

func (exact) Name() string { return "test.Exact" }

func (p exact) NewBuilder() policy.Builder { return &exactBuilder{t: p.t} }

func (p exact) MayContain(filter, key []byte) bool {
	if len(filter) == 0 {
		p.t.Error("the policy was asked about a filter of no bytes")
	}
	for len(filter) > 0 {
		if len(filter) < 4 || uint64(len(filter)-4) < uint64(binary.LittleEndian.Uint32(filter)) {
			p.t.Errorf("%x is not the rest of a filter", filter)
			return true
		}
		n := binary.LittleEndian.Uint32(filter)
		if bytes.Equal(filter[4:][:n], key) {
			return true
		}
		filter = filter[4+n:]
	}
	return false
}

type exactBuilder struct {
	t      testing.TB
	filter []byte
	n      int
}

func (b *exactBuilder) Add(key []byte) {
	b.filter = append(appendUint32(b.filter, len(key)), key...)
	b.n++
}

func (b *exactBuilder) Len() int { return b.n }

// Finish writes over all of dst's spare capacity, which it may.
func (b *exactBuilder) Finish(dst []byte) []byte {
	if b.n == 0 {
		b.t.Error("a filter of no keys was asked for")
	}
	dst = append(dst, b.filter...)
	spare := dst[len(dst):cap(dst)]
	for i := range spare {
		spare[i] = 0xee
	}
	b.filter, b.n = b.filter[:0], 0
	return dst
}

func appendUint32(b []byte, n int) []byte { return binary.LittleEndian.AppendUint32(b, uint32(n)) }
