package policy

// An Encoding is a way to write filters. The last byte of a filter tells it.
type Encoding byte

// The encodings. The last byte of a blocked or ribbon filter is its encoding.
const (
	EncodingUnknown Encoding = 0
	EncodingBloom   Encoding = 1 // LevelDB's Bloom filter, whose last byte is k
	EncodingBlocked Encoding = 'b'
	EncodingRibbon  Encoding = 'q'
)

// String returns a name such as "blocked Bloom".
func (e Encoding) String() string {
	switch e {
	case EncodingBloom:
		return "LevelDB Bloom"
	case EncodingBlocked:
		return "blocked Bloom"
	case EncodingRibbon:
		return "ribbon"
	}
	return "unknown"
}
