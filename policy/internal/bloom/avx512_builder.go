//go:build amd64 && !purego

package bloom

import "github.com/levelbloom/levelbloom/policy/internal/builder"

// avx512Builder is a plainBuilder that collects 16 keys and hashes them at once. A key has its
// place among the hashes from the start.
type avx512Builder struct {
	pending keyRows // the last keys, first in the struct to be aligned to a cache line
	plainBuilder
}

// keyRows are keys to be hashed together: all but those longer than maxRow, whose lengths are
// maxRow+1.
type keyRows struct {
	rows    [lanes]keyRow
	lengths [lanes]uint32
}

func (b *avx512Builder) Add(key []byte) {
	if uint(b.N)%lanes == 0 {
		b.nextRows()
	}
	i := uint(b.N)
	b.N++
	b.pending.lengths[i%lanes] = uint32(min(len(key), maxRow+1))
	switch row := &b.pending.rows[i%lanes]; {
	case len(key) < 8:
		row.put0to7(key)
	case len(key) <= 16:
		row.put8to16(key)
	case len(key) <= 32:
		row.put17to32(key)
	case len(key) <= maxRow:
		row.put33to64(key)
	default:
		b.Last[i%builder.ChunkHashes] = HashTail(HashWords(HashStart(key), key), key)
	}
}

// nextRows makes room for 16 more keys.
func (b *avx512Builder) nextRows() {
	b.hashPending()
	if b.Full() {
		b.Grow()
		b.forgetRows()
	}
}

// forgetRows makes hashPending leave all hashes as they are, because repetitions were left out and
// the hashes have moved.
func (b *avx512Builder) forgetRows() {
	for i := range b.pending.lengths {
		b.pending.lengths[i] = maxRow + 1
	}
}

func (b *avx512Builder) Len() int {
	if b.Distinct {
		b.hashPending()
	}
	return b.plainBuilder.Len()
}

func (b *avx512Builder) settle() (n int) {
	b.hashPending()
	b.forgetRows()
	return b.plainBuilder.settle()
}

// hashPending hashes the keys that Add has left for later. They stay: it may be called again.
func (b *avx512Builder) hashPending() {
	if b.N > 0 {
		first := (b.N - 1) / lanes * lanes % builder.ChunkHashes
		avx512HashRows((*[lanes]uint32)(b.Last[first:]), &b.pending)
	}
}

func (b *avx512Builder) Finish(dst []byte) []byte {
	b.settle()
	return b.plainBuilder.Finish(dst)
}

// A keyRow begins with a key. Zeros fill the key's last word; what follows means nothing.
type keyRow [maxRow]byte

// Each of these copies keys of some lengths: zeros first, then two parts that may overlap. There is
// no loop whose end would be mispredicted, and each is small enough that the compiler inlines it.

func (r *keyRow) put0to7(key []byte) {
	*(*[8]byte)(r[:]) = [8]byte{}
	for i, b := range key {
		r[i%8] = b
	}
}

func (r *keyRow) put8to16(key []byte) {
	*(*[8]byte)(r[8:]) = [8]byte{}
	*(*[8]byte)(r[:]) = [8]byte(key)
	*(*[8]byte)(r[len(key)-8:]) = [8]byte(key[len(key)-8:])
}

func (r *keyRow) put17to32(key []byte) {
	*(*[16]byte)(r[16:]) = [16]byte{}
	*(*[16]byte)(r[:]) = [16]byte(key)
	*(*[16]byte)(r[len(key)-16:]) = [16]byte(key[len(key)-16:])
}

func (r *keyRow) put33to64(key []byte) {
	*(*[32]byte)(r[32:]) = [32]byte{}
	*(*[16]byte)(r[:]) = [16]byte(key)
	*(*[16]byte)(r[16:]) = [16]byte(key[16:])
	*(*[16]byte)(r[len(key)-32:]) = [16]byte(key[len(key)-32:])
	*(*[16]byte)(r[len(key)-16:]) = [16]byte(key[len(key)-16:])
}
