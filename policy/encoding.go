package policy

import "github.com/levelbloom/levelbloom/policy/internal/ribbon"

// An Encoding is a way to write filters. The last byte of a filter tells it.
type Encoding byte

// The encodings. The last byte of a ribbon filter is its encoding.
const (
	EncodingUnknown Encoding = 0
	EncodingBloom   Encoding = 1 // LevelDB's Bloom filter, whose last byte is k
	EncodingRibbon  Encoding = ribbon.Encoding
)

// String returns a name such as "LevelDB Bloom".
func (e Encoding) String() string {
	switch e {
	case EncodingBloom:
		return "LevelDB Bloom"
	case EncodingRibbon:
		return "ribbon"
	}
	return "unknown"
}
