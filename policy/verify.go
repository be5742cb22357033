package policy

// WithVerify makes builders ask each filter that they have finished for all of its keys. If the
// filter misses one or is malformed, the builder returns a filter of 2 bytes that excludes nothing:
// all readers, C++ LevelDB's and goleveldb's among them, answer "may contain". [Count] counts these
// filters, and [Parse] recognizes them. AppendFilter and sstable.FilterBlockBuilder verify too.
// RocksDB has detect_filter_construct_corruption for this.
//
// This catches keys lost to bits that change in memory while a filter is built, and to mistakes of
// this package. It does not catch a change that only adds false positives: [Info.Estimate] shows
// how many a filter has. Nor does it catch a key that changes before it is hashed: builders keep
// hashes and not keys.
//
// Filters take up to twice as long to build with it
// (go test ./policy -run '^$' -bench Verify -benchtime 1x).
func WithVerify() Option {
	return option(func(s *settings) error {
		s.verify = true
		return nil
	})
}

// excludesNothing is the filter that replaces a broken one. LevelDB's readers answer "may contain"
// to every filter of at least 2 bytes whose last one is above 30.
const excludesNothing = "\xff\xff"

// verified returns dst if the filter in it, from start on, has all hashes of b, and otherwise dst
// with the filter replaced. hasAll reports whether a filter has all of some hashes; a malformed one
// has none.
func verified[H uint32 | uint64](
	dst []byte, start int, b *hashBuffer[H], hasAll func(filter []byte, hashes []H) bool,
) []byte {
	filter := dst[start:]
	if spoil != nil {
		spoil(filter)
	}
	for hashes := range b.all {
		if !hasAll(filter, hashes) {
			return append(dst[:start], excludesNothing...)
		}
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
