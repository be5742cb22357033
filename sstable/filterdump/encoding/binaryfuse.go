package encoding

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/levelbloom/levelbloom/policy"
)

// BinaryFuse is the binary fuse encoding of package policy, which describes it byte for byte. What is not a filter of it may
// contain every key. The cells are taken apart here once more, from that description.
var BinaryFuse Encoding = binaryFuse{}

type binaryFuse struct{}

var fuseEnding = ending{name: "binary fuse", version: 1, kind: 0x46}

const (
	fuseTrailer = 16 // seed, segments, e, w, version, encoding
	fuseMinLog  = 2
	fuseMaxLog  = 18
)

func (binaryFuse) String() string { return fuseEnding.String() }

func (e binaryFuse) Of([]byte) Encoding { return e }

// Cells is how the cells of a binary fuse filter are laid out. Each key has three, in three segments that follow each other,
// and a fingerprint, which the three are by exclusive or.
type Cells struct {
	Number  int64
	Segment int64  // cells of a segment
	Width   int    // bits of a cell, and of a fingerprint
	Seed    uint64 // of the hash from which a key's cells and its fingerprint come
}

// A fuseFilter is a filter taken apart.
type fuseFilter struct {
	Cells
	payload  []byte
	segments uint64 // in which a key's first cell may lie
}

// parseFuse takes a filter apart. wrong says why it is none; it is "" if it is one.
func parseFuse(filter []byte) (f fuseFilter, wrong string) {
	n := len(filter) - fuseTrailer
	if n < 0 || !fuseEnding.of(filter) {
		return f, unfitting
	}
	trailer := filter[n:]
	segments, log, width := binary.LittleEndian.Uint32(trailer[8:]), trailer[12], trailer[13]
	switch {
	case width != 8 && width != 12 && width != 16:
		return f, fmt.Sprintf("its fingerprints have %d bits, and not 8, 12 or 16", width)
	case log < fuseMinLog || log > fuseMaxLog:
		return f, fmt.Sprintf("its segments have 2^%d cells, and not 2^%d to 2^%d", log, fuseMinLog, fuseMaxLog)
	case segments == 0:
		return f, "it has no segments"
	}
	f = fuseFilter{payload: filter[:n], segments: uint64(segments)}
	f.Segment = 1 << log
	f.Number = (int64(segments) + 2) * f.Segment
	f.Width = int(width)
	f.Seed = binary.LittleEndian.Uint64(trailer)
	if f.Number*int64(width) != 8*int64(n) {
		return f, unfitting
	}
	return f, ""
}

func (binaryFuse) MayContain(filter, key []byte) bool {
	_, wrong := parseFuse(filter)
	return wrong != "" || policy.MayContain(filter, key)
}

// Measure needs the layout alone: an absent key has a fingerprint like any other, and passes if its cells happen to be that.
// The cells do not tell how many keys they are for, since some are left over.
func (binaryFuse) Measure(filter []byte) (s Stats, ok bool) {
	f, wrong := parseFuse(filter)
	if wrong != "" {
		return Stats{}, false
	}
	return Stats{Cells: &f.Cells, FPP: math.Ldexp(1, -f.Width)}, true
}

// Explain reads the cells one by one, and bit by bit, as the format's description has them.
func (e binaryFuse) Explain(filter, key []byte) Explanation {
	x := Explanation{Hash: xxh3.Hash(key), HashBits: 64, MayContain: e.MayContain(filter, key)}
	f, wrong := parseFuse(filter)
	if wrong != "" {
		x.Note = alwaysMatches(wrong)
		return x
	}
	h := fuseMix(x.Hash + f.Seed)
	segment := uint64(f.Segment)
	first, _ := bits.Mul64(h, f.segments*segment)
	fuse := &FuseProbes{Cells: f.Cells, Fingerprint: (h ^ h>>32) & (1<<f.Width - 1)}
	for i, cell := range []uint64{first, (first + segment) ^ h>>18%segment, (first + 2*segment) ^ h%segment} {
		fuse.Probes[i] = FuseProbe{Cell: int64(cell), Contents: f.contents(cell)}
	}
	x.Fuse = fuse
	x.Note = fmt.Sprintf("with the seed 0x%016x it is 0x%016x; %d cells of %d bits, %d in a segment", f.Seed, h, f.Number, f.Width, f.Segment)
	return x
}

// fuseMix is the finalizer of MurmurHash3.
func fuseMix(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

func (f fuseFilter) contents(cell uint64) (contents uint64) {
	width := uint64(f.Width)
	for i := range width {
		bit := cell*width + i
		contents |= uint64(f.payload[bit/8]>>(bit%8)&1) << i
	}
	return contents
}
