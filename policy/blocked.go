package policy

import "slices"

// BlockedBloom is a policy whose filters keep the false-positive rate of their setting for all keys, whatever their shape
// and number, where those of [Bloom] do not, and that answers faster: the probes of a key lie in one line of 64 bytes. Other
// readers of LevelDB's filters than this package, C++ LevelDB and goleveldb among them, answer "may contain" to every key:
// they read more, and never less. The package comment has the bytes. It is immutable and safe for concurrent use.
type BlockedBloom struct {
	name       string
	bitsPerKey float64
	k          int
}

var (
	_ Policy      = (*BlockedBloom)(nil)
	_ BatchReader = (*BlockedBloom)(nil)
)

// NewBlockedBloom returns the blocked Bloom policy with the given number of bits per key, above 0 and at most 2^30. With 10
// bits at most 1.00 % of the absent keys pass, with 16 0.09 % and with 20 0.022 %, as a mean over filters of 500 keys or more;
// in filters of 8 to 500 keys and up to 1,280 bytes, no more than of [NewBloom]'s with random keys. (`go run ./bench rates`
// measures it for many shapes of keys.) Fractions are allowed. A filter has 3 bytes besides; above 1,280 bytes it is rounded up
// to whole lines of 64, which is 5 % at most.
//
// It returns an error, which says what to pass instead, if bitsPerKey is out of range or not a number, or if an option
// refuses its argument.
func NewBlockedBloom(bitsPerKey float64, opts ...Option) (*BlockedBloom, error) {
	s, err := newSettings(bitsPerKey, opts)
	if err != nil {
		return nil, err
	}
	return &BlockedBloom{name: s.name, bitsPerKey: bitsPerKey, k: blockedProbes(bitsPerKey)}, nil
}

// blockedProbesFrom[k-1] is the number of bits per key from which on k probes are used: the smallest number of probes that
// gives at most 1.03 times the false positives of the best one, in steps of half a bit, in filters of many lines.
// TestBlockedProbes computes it.
var blockedProbesFrom = [...]float64{0, 2.5, 4, 5.5, 7.5, 9, 11, 13, 15.5, 18, 20.5, 23.5, 27, 30.5, 35, 40}

func blockedProbes(bitsPerKey float64) int {
	k := 1
	for k < len(blockedProbesFrom) && bitsPerKey >= blockedProbesFrom[k] {
		k++
	}
	return k
}

// Name returns the name under which engines store the filters.
func (b *BlockedBloom) Name() string { return b.name }

// MayContainMany answers for many keys at once. It is the function [MayContainMany].
func (b *BlockedBloom) MayContainMany(filter []byte, keys [][]byte, out []bool) {
	MayContainMany(filter, keys, out)
}

// NewBuilder returns an empty builder. It costs one small allocation; the memory for its keys is shared with other
// builders and returns to them at Finish.
func (b *BlockedBloom) NewBuilder() Builder { return &blockedBuilder{bloom: b} }

// AppendFilter appends the filter of keys to dst and returns the extended slice. The keys must not lie in the spare
// capacity of dst.
func (b *BlockedBloom) AppendFilter(dst []byte, keys [][]byte) []byte {
	dst, payload := b.extend(dst, len(keys))
	hashes := keyHashChunks.Get().(*keyHashChunk)
	for len(keys) > 0 {
		n := min(len(keys), len(hashes))
		for i, key := range keys[:n] {
			hashes[i] = keyHash(key)
		}
		setBlocked(payload, hashes[:n], b.k)
		keys = keys[n:]
	}
	keyHashChunks.Put(hashes)
	return dst
}

const (
	blockedVersion = 1
	blockedTrailer = 3 // k, version, encoding
	lineBytes      = 64
	// A payload of up to blockedShort bytes is not divided into lines. So it needs no rounding, and no line is fuller than
	// others, which would cost false positives; and it is small enough to be in the nearest caches as a whole.
	blockedShort = 1280
)

// FilterSize returns the size in bytes of a filter of n keys.
func (b *BlockedBloom) FilterSize(n int) uint64 {
	nbytes := max(1, filterBytes(n, b.bitsPerKey))
	if nbytes > blockedShort {
		nbytes = (nbytes + lineBytes - 1) / lineBytes * lineBytes
	}
	return nbytes + blockedTrailer
}

// extend appends an empty filter for n keys to dst, and returns the extended slice and the payload in it.
func (b *BlockedBloom) extend(dst []byte, n int) (extended, payload []byte) {
	size := intSize(b.FilterSize(n), n, b.bitsPerKey)
	start, end := len(dst), len(dst)+size-blockedTrailer
	extended = slices.Grow(dst, size)[:start+size]
	payload = extended[start:end]
	clear(payload) // Grow leaves the spare capacity as it was
	copy(extended[end:], []byte{byte(b.k), blockedVersion, blockedBloomByte})
	return extended, payload
}
