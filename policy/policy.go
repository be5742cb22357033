package policy

// A Policy makes filters and reads them. Implementations are safe for concurrent use.
//
// The name is stored beside every filter on disk, and an engine reads a filter only through a policy of that name. Two
// policies may share a name only if each reads the other's filters.
type Policy interface {
	// Name returns the name under which engines store the filters. It never changes.
	Name() string
	// NewBuilder returns an empty Builder.
	NewBuilder() Builder
	// MayContain reports whether key may have been added to filter. It is never false for a key that was.
	MayContain(filter, key []byte) bool
}

// A Builder collects keys and encodes them as a filter. It is not safe for concurrent use; builders of one Policy may be
// used concurrently with each other. A Builder that is no longer wanted needs no closing.
type Builder interface {
	// Add adds a key. It keeps no reference to the key's memory.
	Add(key []byte)
	// Len returns the number of keys added since the last Finish. A key added twice counts twice; whether it takes more room
	// in the filter, depends on the encoding.
	Len() int
	// Finish appends the filter of the keys added since the last Finish to dst, returns the extended slice, and starts
	// over. What the spare capacity of dst holds does not matter.
	Finish(dst []byte) []byte
}

const (
	// Name is the name that C++ LevelDB (since 1.18) gives to these filters, and the default.
	Name = "leveldb.BuiltinBloomFilter2"

	// NameGoLevelDB is the name that goleveldb gives to the same bytes. (C++ LevelDB before 1.18 used it too, for filters
	// whose hash depended on whether the compiler's char was signed.)
	NameGoLevelDB = "leveldb.BuiltinBloomFilter"
)

// MayContain reports whether key may be one of the keys that filter was made from; LevelDB calls it KeyMayMatch. It
// needs no setting, allocates nothing, accepts any bytes, and is safe for concurrent use. The package comment lists its
// answers to malformed filters.
func MayContain(filter, key []byte) bool {
	return (*Bloom)(nil).MayContain(filter, key) // which reads all encodings
}
