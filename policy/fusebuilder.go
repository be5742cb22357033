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
	filter []byte // if Size has made it
	made   int    // the number of keys of filter
}

// Size makes the filter, since nothing less tells how many keys are distinct, and whether they suit.
func (b *fuseBuilder) Size() int {
	if b.filter == nil || b.made != b.n {
		b.filter, b.made = b.fuse.appendFilter(b.filter[:0], &b.keyHashes), b.n
	}
	return len(b.filter)
}

func (b *fuseBuilder) Finish(dst []byte) []byte {
	if b.filter != nil && b.made == b.n {
		dst = append(dst, b.filter...)
	} else {
		dst = b.fuse.appendFilter(dst, &b.keyHashes)
	}
	b.filter = nil
	b.reset()
	return dst
}

// A fuseWorkshop is the memory that it takes to make a filter.
type fuseWorkshop struct {
	heaps
	fusePuzzle
}

var fuseWorkshops = sync.Pool{New: func() any { return new(fuseWorkshop) }}

// fuseAttempts bounds the attempts. Most sets of keys take one, and those of some sizes two or three, seldom ten; but somebody
// might choose keys for which no seed is right.
const fuseAttempts = 64

// appendFilter appends the filter of keys to dst.
func (b *BinaryFuse) appendFilter(dst []byte, keys *keyHashes) []byte {
	w := fuseWorkshops.Get().(*fuseWorkshop)
	defer fuseWorkshops.Put(w)
	var seeds fuseSeeds
	seed := seeds.next()
	mixed := w.deal(keys, seed)
	n := len(mixed)
	if width := b.width(n); width > 0 {
		for attempt := 1; attempt <= fuseAttempts; attempt++ {
			g := fuseGeometryOf(n).at(attempt, n)
			if cells, ok := w.solve(mixed, g); ok {
				return appendFuse(dst, cells, seed, g, width)
			}
			seed = seeds.next()
			mixed = w.deal(keys, seed)
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
