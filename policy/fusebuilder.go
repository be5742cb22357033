package policy

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"

	"github.com/FastFilter/xorfilter"
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
	hashes []uint64
	distincter
	library xorfilter.BinaryFuseBuilder
}

var fuseWorkshops = sync.Pool{New: func() any { return new(fuseWorkshop) }}

// appendFilter appends the filter of keys to dst.
func (b *BinaryFuse) appendFilter(dst []byte, keys *keyHashes) []byte {
	w := fuseWorkshops.Get().(*fuseWorkshop)
	defer fuseWorkshops.Put(w)
	w.hashes = slices.Grow(w.hashes[:0], keys.n)
	for some := range keys.all {
		w.hashes = append(w.hashes, some...)
	}
	hashes := w.distinct(w.hashes)
	if width := b.width(len(hashes)); width > 0 {
		if filter, ok := w.appendFuse(dst, hashes, width); ok {
			return filter
		}
	}
	dst, payload := b.blocked.extend(dst, len(hashes))
	setBlocked(payload, hashes, b.blocked.k)
	return dst
}

// appendFuse appends the binary fuse filter of distinct hashes to dst, with fingerprints of 8, 12 or 16 bits. It is not ok if
// none of the library's seeds, of which there are 1,024, suits them. That does not happen by chance.
func (w *fuseWorkshop) appendFuse(dst []byte, hashes []uint64, width int) (extended []byte, ok bool) {
	if width == 8 {
		f, err := xorfilter.BuildBinaryFuse[uint8](&w.library, hashes)
		if err != nil {
			return dst, false
		}
		return layoutOf(f, width).appendTo(append(dst, f.Fingerprints...)), true
	}
	f, err := xorfilter.BuildBinaryFuse[uint16](&w.library, hashes)
	if err != nil {
		return dst, false
	}
	dst = slices.Grow(dst, len(f.Fingerprints)*width/8+fuseTrailer)
	if width == 12 {
		for pair := range slices.Chunk(f.Fingerprints, 2) { // there is an even number of them
			both := uint32(pair[0])&0xfff | uint32(pair[1])<<12
			dst = append(dst, byte(both), byte(both>>8), byte(both>>16))
		}
	} else {
		for _, f := range f.Fingerprints {
			dst = binary.LittleEndian.AppendUint16(dst, f)
		}
	}
	return layoutOf(f, width).appendTo(dst), true
}

func layoutOf[T xorfilter.Unsigned](f xorfilter.BinaryFuse[T], width int) fuseLayout {
	return fuseLayout{seed: f.Seed, segments: f.SegmentCount, log: uint8(bits.TrailingZeros32(f.SegmentLength)), width: uint8(width)}
}
