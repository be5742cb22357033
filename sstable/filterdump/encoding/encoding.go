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

// Stats says what the bits of one filter tell.
type Stats struct {
	K        int     // probes for each key
	Bits     int64   // size of the bit array, with which the filter begins
	LineBits int64   // of them, those of each line that a key's probes lie in together; 0 if there are no lines
	Set      int64   // bits that are set
	Distinct float64 // distinct keys, estimated from the bits that are set; +Inf if all are
	FPP      float64 // probability that a random absent key passes, estimated from the bits that are set
}

// Explanation is how a filter answers for one key.
type Explanation struct {
	Hash       uint64  `json:"hash"`
	HashBits   int     `json:"hash_bits"`           // width of Hash; 0: the hash is unknown
	LineBits   int64   `json:"line_bits,omitempty"` // as in Stats
	Probes     []Probe `json:"probes"`
	MayContain bool    `json:"may_contain"`
	Note       string  `json:"note,omitempty"` // why there are no probes, or where they lie
}

// A Probe is one bit that was asked.
type Probe struct {
	Bit int64 `json:"bit"`
	Set bool  `json:"set"`
}
