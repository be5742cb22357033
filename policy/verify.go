package policy

// WithVerify makes builders ask each filter that they have finished for all of its keys, and for up
// to 64 absent ones. If the filter misses a key, or finds all the absent ones, the builder returns
// a filter of 2 bytes that excludes nothing: all readers, C++ LevelDB's and goleveldb's among them,
// answer "may contain". [Count] counts these filters, and [Parse] recognizes them. AppendFilter and
// sstable.FilterBlockBuilder verify too. RocksDB has detect_filter_construct_corruption for this.
//
// This catches bits that change in memory while a filter is built, and mistakes of this package. It
// does not catch a bit that adds a few false positives, nor a key that changes before it is hashed:
// builders keep hashes and not keys.
//
// Ribbon filters of fewer than 10,000 keys are verified without the option. Other filters take up
// to twice as long to build with it (go test ./policy -run '^$' -bench Verify -benchtime 1x).
func WithVerify() Option {
	return func(c *common) error {
		c.verify = true
		return nil
	}
}

// excludesNothing is the filter that replaces a broken one. LevelDB's readers answer "may contain"
// to every filter of at least 2 bytes whose last one is above 30.
const excludesNothing = "\xff\xff"

// A verifier asks filters for hashes.
type verifier[H uint32 | uint64] struct {
	// hasAll reports whether a filter contains all of the hashes. A malformed one contains none.
	hasAll func(filter []byte, hashes []H) bool
	absent [64]H // of no key in particular
}

var (
	bloomVerifier = newVerifier(bloomHasAll)
	oursVerifier  = newVerifier(oursHasAll)
)

func newVerifier[H uint32 | uint64](hasAll func(filter []byte, hashes []H) bool) *verifier[H] {
	v := &verifier[H]{hasAll: hasAll}
	for i := range v.absent {
		v.absent[i] = H(mix(uint64(i), 1))
	}
	return v
}

// verifyAbsentFrom is the number of bits per key from which on absent keys count. With fewer, a
// sound filter may find nearly all of them. From here on, and up to 2^28 keys, at most 0.8 of its
// bits are set if k is 2, fewer if k is 1, and so on: it finds one of them with a probability of
// 0.64 at most, and all 64 with 10^-12. With 10 bits per key it is 10^-128.
const verifyAbsentFrom = 2

// verified returns dst if the filter in it, from start on, is sound: if it has all hashes of b and
// not all absent ones. Otherwise it replaces the filter.
func (v *verifier[H]) verified(c *common, dst []byte, start int, b *hashBuffer[H]) []byte {
	filter := dst[start:]
	if spoil != nil {
		spoil(filter)
	}
	found := 0 // nearly always, the first absent one is missing
	for found < len(v.absent) && v.hasAll(filter, v.absent[found:][:1]) {
		found++
	}
	sound := found < len(v.absent) || c.bitsPerKey < verifyAbsentFrom
	for hashes := range b.all {
		sound = sound && v.hasAll(filter, hashes)
	}
	if !sound {
		return append(dst[:start], excludesNothing...)
	}
	return dst
}

// spoil, if not nil, changes filters before they are verified. Tests set it.
var spoil func(filter []byte)

// bloomHasAll asks a filter of LevelDB's encoding.
func bloomHasAll(filter []byte, hashes []uint32) bool {
	k := int(filter[len(filter)-1])
	return k <= maxProbes && countFound(newBitArray(filter), k, hashes, len(hashes)) == len(hashes)
}

// oursHasAll asks a filter of one of our own encodings.
func oursHasAll(filter []byte, hashes []uint64) bool {
	var shape ribbonShape
	var payload []byte
	var k int
	var ok bool
	encoding := Encoding(filter[len(filter)-1])
	switch encoding {
	case EncodingBlocked:
		payload, k, ok = blockedParts(filter)
	case EncodingRibbon:
		ok = shape.parse(filter)
	}
	for i := 0; ok && i < len(hashes); i++ {
		switch h := hashes[i]; {
		case encoding == EncodingRibbon:
			ok = shape.contains(filter, h)
		case len(payload) <= blockedSingle:
			ok = singleTest(payload, k, uint32(h))
		default:
			ok = lineOf(payload, h).test(uint32(h), k) != 0
		}
	}
	return ok
}
