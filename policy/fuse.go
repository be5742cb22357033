package policy

// BinaryFuse is a policy whose filters have the fewest false positives for their memory, and are read as fast as any, for
// tables that are written once and read for long: building takes more time and memory than [BlockedBloom] and [Bloom] do.
// Other readers of LevelDB's filters than this package, C++ LevelDB and goleveldb among them, answer "may contain" to every
// key: they read more, and never less. The package comment has the bytes. It is immutable and safe for concurrent use.
type BinaryFuse struct {
	blocked BlockedBloom // of the same name and bits per key, for the filters where it is better
}

var (
	_ Policy     = (*BinaryFuse)(nil)
	_ ManyReader = (*BinaryFuse)(nil)
)

// NewBinaryFuse returns the binary fuse policy with the given number of bits per key, above 0 and at most 2^30. Fractions are
// allowed, and a filter has 16 bytes besides. For each key it has a fingerprint of 8, 12 or 16 bits, the longest that fits: of
// absent keys 1 in 256, in 4,096 or in 65,536 passes, whatever the shape and number of the keys. (`go run ./bench rates` measures
// it.) How many bits per key that takes depends on the number of keys in a filter:
//
//	keys from    8 bits    12 bits    16 bits
//	    2,000      11.6     17.4        23.2
//	    5,300      11       16.5        22
//	   41,000      10       15          20
//	  850,000       9.1     13.65       18.2
//
// The builder makes [NewBlockedBloom]'s filter instead where no fingerprint fits, or where that has fewer false positives in the
// memory allowed: nearly always in filters of up to 1,280 bytes, from 12.25 and from 19.5 bits per key on until the next longer
// fingerprint fits, and from 28.25 on. So it suits engines with one filter for a table, as Pebble has; goleveldb makes one for
// every 2 KiB of data unless its FilterBaseLg says otherwise. A filter takes what its fingerprints need, if bitsPerKey allows
// more.
//
// Keys that were added twice count once. Building takes up to 55 bytes of memory per key and 64 KiB for a filter, which are used
// again for others. With keys that somebody has chosen to make it difficult, it takes many times as long, and no more memory.
//
// It returns an error, which says what to pass instead, if bitsPerKey is out of range or not a number, or if an option
// refuses its argument.
func NewBinaryFuse(bitsPerKey float64, opts ...Option) (*BinaryFuse, error) {
	b, err := NewBlockedBloom(bitsPerKey, opts...)
	if err != nil {
		return nil, err
	}
	return &BinaryFuse{*b}, nil
}

// Name returns the name under which engines store the filters.
func (b *BinaryFuse) Name() string { return b.blocked.name }

// MayContainMany answers for many keys at once. It is the function [MayContainMany].
func (b *BinaryFuse) MayContainMany(filter []byte, keys [][]byte, out []bool) {
	MayContainMany(filter, keys, out)
}

// NewBuilder returns an empty builder. It costs one small allocation; the memory for its keys and for making the filter is
// shared with other builders and returns to them at Finish. Its Size makes the filter, and Finish then copies it.
func (b *BinaryFuse) NewBuilder() Builder { return &fuseBuilder{fuse: b} }

// AppendFilter appends the filter of keys to dst and returns the extended slice. The keys must not lie in the spare
// capacity of dst.
func (b *BinaryFuse) AppendFilter(dst []byte, keys [][]byte) []byte {
	builder := fuseBuilder{fuse: b}
	for _, key := range keys {
		builder.Add(key)
	}
	return builder.Finish(dst)
}

const (
	fuseVersion = 1
	fuseTrailer = 16 // seed, segments, the logarithm of the cells per segment, bits per fingerprint, version, encoding
)

// width returns the number of bits of the fingerprints in a filter of n distinct keys; or 0 if none fits, or if blocked Bloom has
// fewer false positives.
func (b *BinaryFuse) width(n int) int {
	if n > fuseMaxKeys {
		return 0
	}
	size, cells := filterBytes(n, b.blocked.bitsPerKey), fuseGeometryOf(n).cells()
	for _, w := range fuseWidths {
		if cells*uint64(w.bits)/8 <= size {
			if b.blockedIsBetter(n, w.short, w.lines) {
				return 0
			}
			return w.bits
		}
	}
	return 0
}

// fuseWidths has the numbers of bits of a fingerprint, and the bits per key from which on blocked Bloom has fewer false positives
// than 2^-bits: in a short payload, and in one that is divided into lines. `go run ./bench rates -crossing` measures it.
var fuseWidths = [...]struct {
	bits         int
	short, lines float64
}{{16, 23.75, 28.25}, {12, 17.75, 19.5}, {8, 11.625, 12.25}}

// blockedIsBetter reports whether blocked Bloom has so many bits per key, rounded up to lines as it is.
func (b *BinaryFuse) blockedIsBetter(n int, short, lines float64) bool {
	payload := b.blocked.payloadSize(n)
	from := lines
	if payload <= blockedShort {
		from = short
	}
	return 8*float64(payload) >= from*float64(n) // both are exact
}
