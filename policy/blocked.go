package policy

// BlockedBloom is a policy whose lookups are faster than those of [Bloom], as `go run ./bench
// filters` shows: in filters above 1,280 bytes, all probes of a key lie in one line of 64 bytes.
// Get one from [NewBlockedBloom].
//
// Its rate of false positives does not depend on the shape of the keys, as that of [Bloom] does,
// and in filters of 500 keys or more keeps the bound of its setting. This holds unless somebody
// chose the keys by their hashes, which have no secret.
//
// Readers other than this package, C++ LevelDB and goleveldb among them, answer "may contain" for
// every key: they read more, never less. FORMAT.md has the bytes. A BlockedBloom is immutable and
// safe for concurrent use.
type BlockedBloom struct {
	common
	k int
}

var (
	_ Policy      = (*BlockedBloom)(nil)
	_ BatchReader = (*BlockedBloom)(nil)
)

// NewBlockedBloom returns the blocked Bloom policy with the given number of bits per key, above 0
// and at most 1000. Fractions are allowed. Random absent keys are false positives at a rate of at
// most 1.00 % with 10 bits, 0.09 % with 16 and 0.022 % with 20, as a mean over filters of 500 keys
// or more. In smaller filters the rate is at most that of [NewBloom] with random keys.
// `go run ./bench rates` measures it for many shapes of keys.
//
// A filter has 3 bytes in addition. Above 1,280 bytes it is rounded up to whole lines of 64 bytes,
// which adds 5 % at most.
//
// It returns an error that says what to pass instead if bitsPerKey is out of range or not a
// number, or if an option refuses its argument.
func NewBlockedBloom(bitsPerKey float64, opts ...Option) (*BlockedBloom, error) {
	c, err := newCommon(bitsPerKey, opts)
	if err == nil {
		err = c.refuseTuning()
	}
	if err != nil {
		return nil, err
	}
	return &BlockedBloom{c, blockedProbes(bitsPerKey)}, nil
}

// blockedProbesFrom[k-1] is the number of bits per key from which on filters have k probes: the
// smallest number of probes that gives at most 1.03 times the false positives of the best one, in
// steps of half a bit, in filters of many lines. TestBlockedProbes computes it.
var blockedProbesFrom = [...]float64{
	0, 2.5, 4, 5.5, 7.5, 9, 11, 13, 15.5, 18, 20.5, 23.5, 27, 30.5, 35, 40,
}

func blockedProbes(bitsPerKey float64) int {
	k := 1
	for k < len(blockedProbesFrom) && bitsPerKey >= blockedProbesFrom[k] {
		k++
	}
	return k
}

// String returns the policy's settings, such as "blocked:10"; see [Bloom.String].
func (b *BlockedBloom) String() string { return b.format("blocked") }

// MayContainMany answers for many keys at once. It is the function [MayContainMany].
func (*BlockedBloom) MayContainMany(filter []byte, keys [][]byte, out []bool) {
	MayContainMany(filter, keys, out)
}

// NewBuilder returns an empty builder. It costs one small allocation: builders share the memory for
// their keys' hashes, from a pool, and return it at Finish.
func (b *BlockedBloom) NewBuilder() Builder {
	mustBeUsable(b)
	return &blockedBuilder{hashBuffer[uint64]{pool: &chunks64}, b}
}

// AppendFilter appends the filter of keys to dst and returns the extended slice. The keys must not
// lie in the spare capacity of dst.
func (b *BlockedBloom) AppendFilter(dst []byte, keys [][]byte) []byte {
	mustBeUsable(b)
	if b.verify {
		return appendByBuilder(b, dst, keys)
	}
	dst, payload := b.extendFilter(dst, len(keys))
	hashes := chunks64.Get().(*hashChunk[uint64])
	for len(keys) > 0 {
		n := min(len(keys), len(hashes))
		for i, key := range keys[:n] {
			hashes[i] = keyHash(key)
		}
		setBlocked(payload, hashes[:n], b.k)
		keys = keys[n:]
	}
	chunks64.Put(hashes)
	return dst
}

const (
	blockedTrailer = 1 + trailerTail // k
	lineBytes      = 64
	// A payload of up to blockedSingle bytes is a single line. So it needs no rounding, and no line
	// is fuller than others, which would cost false positives. As a whole it is small enough for
	// the nearest cache.
	blockedSingle = 1280
)

// FilterSize returns the size in bytes of a filter of n keys. It panics if n is negative.
func (b *BlockedBloom) FilterSize(n int) uint64 {
	mustBeUsable(b)
	payload := max(1, filterBytes(n, b.bitsPerKey))
	if payload > blockedSingle {
		payload = (payload + lineBytes - 1) / lineBytes * lineBytes
	}
	return payload + blockedTrailer
}

// extendFilter appends a filter of n keys without their bits to dst. It returns the extended slice
// and the payload in it.
func (b *BlockedBloom) extendFilter(dst []byte, n int) (extended, payload []byte) {
	extended, filter := b.extend(dst, b.FilterSize(n), n)
	payload = filter[:len(filter)-blockedTrailer]
	appendTrailer(payload, len(payload), EncodingBlocked, byte(b.k)) // into filter
	return extended, payload
}

// blockedParts returns the payload and k of a filter whose last byte is EncodingBlocked. If the
// filter is malformed, ok is false: it may contain every key.
func blockedParts(filter []byte) (payload []byte, k int, ok bool) {
	n := len(filter) - blockedTrailer
	if n < 1 || n > blockedSingle && n%lineBytes != 0 {
		return nil, 0, false
	}
	if filter[n]^filter[n+1]^filter[n+2] != lengthCheck(n) { // the check byte is wrong
		return nil, 0, false
	}
	return filter[:n], int(filter[n]), true
}

type blockedBuilder struct {
	hashBuffer[uint64]
	bloom *BlockedBloom
}

func (b *blockedBuilder) Add(key []byte) {
	h := keyHash(key)
	if b.full() {
		b.grow()
	}
	b.put(h)
}

func (b *blockedBuilder) Finish(dst []byte) []byte {
	extended, payload := b.bloom.extendFilter(dst, b.Len())
	for hashes := range b.all {
		setBlocked(payload, hashes, b.bloom.k)
	}
	if b.bloom.verify {
		extended = verified(extended, len(dst), &b.hashBuffer, oursHasAll)
	}
	b.reset()
	return extended
}
