package policy

// A Policy builds filters and reads them. Implementations are safe for concurrent use.
//
// An engine stores the name beside every filter, and reads a filter only through a policy of that
// name. Two policies may share a name only if each reads the other's filters; see [Compatible].
type Policy interface {
	// Name returns the name under which engines store the filters. It never changes.
	Name() string
	// NewBuilder returns an empty Builder.
	NewBuilder() Builder
	// MayContain reports whether key may have been added to filter. It is never false for a key
	// that was.
	MayContain(filter, key []byte) bool
}

// A Sized policy knows the size of its filters and their share of false positives before it builds
// any. Every [Bloom] and every [Ribbon] is Sized.
type Sized interface {
	Policy
	// String returns the policy's settings as [FromString] takes them, such as "ribbon:10".
	String() string
	// BitsPerKey returns the number of bits per key that the policy was made with.
	BitsPerKey() float64
	// FilterSize returns the size in bytes of a filter of n keys. It panics if n is negative.
	FilterSize(n int) uint64
	// FPP returns the false-positive probability, from 0 to 1, of a filter of n different keys. It
	// panics if n is negative.
	FPP(n int) float64
	// AppendFilter appends the filter of keys to dst and returns the extended slice. The keys must
	// not lie in the spare capacity of dst.
	AppendFilter(dst []byte, keys [][]byte) []byte
}

// A Builder collects keys and encodes them as a filter. It is not safe for concurrent use, but
// several builders of one Policy are. A Builder that is no longer needed can simply be dropped.
type Builder interface {
	// Add adds a key. It keeps no reference to the key's memory.
	Add(key []byte)
	// Len returns the number of keys added since the last Finish. A key added twice counts twice.
	Len() int
	// Finish appends the filter of the keys added since the last Finish to dst, returns the
	// extended slice, and starts over. The spare capacity of dst may contain anything.
	Finish(dst []byte) []byte
}

const (
	// Name is the name that C++ LevelDB (since 1.18) gives to its filters, and the default.
	Name = "leveldb.BuiltinBloomFilter2"

	// NameGoLevelDB is the name that goleveldb gives to the same bytes. C++ LevelDB before 1.18
	// used it too, for filters whose hash depended on whether the compiler's char was signed.
	NameGoLevelDB = "leveldb.BuiltinBloomFilter"
)

// appendByBuilder appends the filter of keys, built by a builder of p, to dst.
func appendByBuilder(p Policy, dst []byte, keys [][]byte) []byte {
	b := p.NewBuilder()
	for _, key := range keys {
		b.Add(key)
	}
	return b.Finish(dst)
}
