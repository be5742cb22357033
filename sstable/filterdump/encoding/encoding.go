// Package encoding reads filters of the encodings that tables on disk have, bit by bit.
package encoding

// An Encoding reads the filters of one kind, or of the kinds that may lie under one name. It is safe for concurrent use.
type Encoding interface {
	// String returns the encoding's name for people, such as "LevelDB Bloom".
	String() string
	// Of returns the encoding of one filter: the receiver itself, unless it reads several kinds.
	Of(filter []byte) Encoding
	// MayContain reports whether key may have been added to filter. It accepts any bytes.
	MayContain(filter, key []byte) bool
	// Measure looks at the bits of a filter. ok is false if the bytes are no filter of this encoding, which then has no
	// statistics.
	Measure(filter []byte) (s Stats, ok bool)
	// Explain shows how filter answers for key, probe by probe.
	Explain(filter, key []byte) Explanation
}

// Stats says what one filter tells. It has either bits that its keys set, or cells.
type Stats struct {
	K        int     // probes for each key
	Bits     int64   // size of the bit array, with which the filter begins
	LineBits int64   // of them, those of each line that a key's probes lie in together; 0 if there are no lines
	Set      int64   // bits that are set
	Distinct float64 // distinct keys, estimated from the bits that are set; +Inf if all are

	Cells *Cells // nil: the filter has bits

	FPP float64 // probability that a random absent key passes: estimated from the bits that are set, or known with cells
}

// Explanation is how a filter answers for one key.
type Explanation struct {
	Hash       uint64
	HashBits   int   // width of Hash; 0: the hash is unknown
	LineBits   int64 // as in Stats
	Probes     []Probe
	Fuse       *FuseProbes // instead of Probes, if the filter has cells
	MayContain bool
	Note       string // why there are no probes, or where they lie
}

// A Probe is one bit that was asked.
type Probe struct {
	Bit int64
	Set bool
}

// FuseProbes are a key's cells in a binary fuse filter.
type FuseProbes struct {
	Cells
	Fingerprint uint64 // of the key
	Probes      [3]FuseProbe
}

// A FuseProbe is one cell that was read.
type FuseProbe struct {
	Cell     int64
	Contents uint64
}

// Sum returns what the cells are by exclusive or. It is the fingerprint of each key that was added.
func (f *FuseProbes) Sum() uint64 {
	return f.Probes[0].Contents ^ f.Probes[1].Contents ^ f.Probes[2].Contents
}
