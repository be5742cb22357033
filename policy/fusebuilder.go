package policy

import (
	"encoding/binary"
	"slices"
	"sync"
)

// fuseBuilder keeps the hash of every added key.
type fuseBuilder struct {
	keyHashes
	fuse   *BinaryFuse
	made   bool // filter is that of the first of keys
	keys   int
	filter []byte
}

func (b *fuseBuilder) Add(key []byte) {
	h := keyHash(key)
	if b.full() {
		b.grow()
	}
	b.put(h)
}

// Size makes the filter, since nothing less tells how many keys are distinct, and whether they suit.
func (b *fuseBuilder) Size() int {
	if !b.made || b.keys != b.n {
		b.filter = b.fuse.appendFilter(b.filter[:0], &b.keyHashes)
		b.made, b.keys = true, b.n
	}
	return len(b.filter)
}

func (b *fuseBuilder) Finish(dst []byte) []byte {
	if b.made && b.keys == b.n {
		dst = append(dst, b.filter...)
	} else {
		dst = b.fuse.appendFilter(dst, &b.keyHashes)
	}
	b.made = false
	if cap(b.filter) > fuseKeep {
		b.filter = nil
	}
	b.reset()
	return dst
}

// fuseKeep is how many bytes a builder keeps for the next filter that Size will make. Many have few keys.
const fuseKeep = 1 << 16

// A fuseWorkshop is the memory that it takes to make a filter.
type fuseWorkshop struct {
	heaps
	fusePuzzle
}

var fuseWorkshops = sync.Pool{New: func() any { return new(fuseWorkshop) }}

// done gives the workshop to others, unless it is far larger than the filter of n keys that it was used for: among many small
// filters, the memory of a large one would never get free.
func (w *fuseWorkshop) done(n int) {
	if cap(w.mixed) <= 8*max(n, 1<<15) {
		fuseWorkshops.Put(w)
	}
}

// fuseAttempts bounds the attempts. Mostly one is enough, and for some numbers of keys two or three; but somebody might choose
// keys for which no seed is right.
const fuseAttempts = 64

// appendFilter appends the filter of keys to dst.
func (b *BinaryFuse) appendFilter(dst []byte, keys *keyHashes) []byte {
	w := fuseWorkshops.Get().(*fuseWorkshop)
	defer w.done(keys.n)
	var seeds fuseSeeds
	n := 0
	for attempt := 1; attempt <= fuseAttempts; attempt++ {
		seed := seeds.next()
		mixed := w.deal(keys, seed)
		n = len(mixed)
		width := b.width(n)
		if width == 0 {
			break
		}
		g := fuseGeometryOf(n).at(attempt, n)
		if cells, ok := w.solve(mixed, g); ok {
			return appendFuse(dst, cells, seed, g, width)
		}
	}
	dst, payload := b.blocked.extend(dst, n)
	for hashes := range keys.all { // equal ones have the same bits
		setBlocked(payload, hashes, b.blocked.k)
	}
	return dst
}

// appendFuse appends a filter to dst: of each cell the lowest width bits, which are 8, 12 or 16, and what its reader must know.
func appendFuse(dst []byte, cells []uint16, seed uint64, g fuseGeometry, width int) []byte {
	dst = slices.Grow(dst, len(cells)*width/8+fuseTrailer)
	switch width {
	case 8:
		for _, c := range cells {
			dst = append(dst, byte(c))
		}
	case 12:
		for pair := range slices.Chunk(cells, 2) { // they are an even number
			both := uint32(pair[0])&0xfff | uint32(pair[1])<<12
			dst = append(dst, byte(both), byte(both>>8), byte(both>>16))
		}
	case 16:
		for _, c := range cells {
			dst = binary.LittleEndian.AppendUint16(dst, c)
		}
	}
	dst = binary.LittleEndian.AppendUint64(dst, seed)
	dst = binary.LittleEndian.AppendUint32(dst, g.segments)
	return append(dst, g.log, byte(width), fuseVersion, binaryFuseByte)
}
