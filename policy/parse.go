package policy

import (
	"errors"
	"fmt"
)

// An Encoding is a way to write filters, which a filter's last byte tells.
type Encoding byte

// The encodings. The constant of an encoding of ours is the last byte of its filters.
const (
	EncodingUnknown Encoding = 0
	EncodingBloom   Encoding = 1 // LevelDB's Bloom filter, whose last byte is k
	EncodingBlocked Encoding = blockedBloomByte
)

// String returns the name of the encoding for people, such as "blocked Bloom".
func (e Encoding) String() string {
	switch e {
	case EncodingBloom:
		return "LevelDB Bloom"
	case EncodingBlocked:
		return "blocked Bloom"
	}
	return "unknown"
}

// Info is what the bytes of one filter say.
type Info struct {
	Encoding Encoding
	K        int    // probes per key
	Payload  []byte // the bits; part of the filter that was parsed
	// LineBytes is the size of the part of Payload in which all probes of a key lie: 64, or
	// len(Payload) where the filter is not divided into lines.
	LineBytes int
}

// Parse returns what filter says of itself. It returns an error that says what is wrong if the
// filter is malformed or of an unknown encoding; readers then answer the same for every key,
// mostly "may contain". Encoding is set as far as it is known, with an error too.
//
// It keeps filter's memory, accepts any bytes, and is safe for concurrent use.
func Parse(filter []byte) (Info, error) {
	if len(filter) < 2 {
		return Info{}, errors.New("shorter than 2 bytes: it matches no key")
	}
	switch last := filter[len(filter)-1]; {
	case last == 0:
		return Info{Encoding: EncodingBloom}, errors.New("k = 0: no probe says no, every key may be contained")
	case last <= maxProbes:
		array := filter[:len(filter)-1]
		return Info{EncodingBloom, int(last), array, len(array)}, nil
	case last == blockedBloomByte:
		payload, k, ok := blockedParts(filter)
		if !ok {
			return Info{Encoding: EncodingBlocked}, errors.New("its trailer or its length is damaged: every key may be contained")
		}
		if k == 0 {
			return Info{Encoding: EncodingBlocked}, errors.New("k = 0: no probe says no, every key may be contained")
		}
		info := Info{EncodingBlocked, k, payload, len(payload)}
		if len(payload) > blockedShort {
			info.LineBytes = lineBytes
		}
		return info, nil
	default:
		return Info{}, fmt.Errorf("unknown encoding 0x%02x: every key may be contained", last)
	}
}

// Probes appends to dst the bits of Payload that a lookup of key asks, in the order of the format,
// and returns the extended slice. Bit p is bit p%8 of byte p/8.
func (i Info) Probes(dst []uint64, key []byte) []uint64 {
	switch i.Encoding {
	case EncodingBloom:
		h := Hash(key)
		delta := probeDelta(h)
		for range i.K {
			dst = append(dst, uint64(h)%(8*uint64(len(i.Payload))))
			h += delta
		}
	case EncodingBlocked:
		h := keyHash(key)
		lineBits := 8 * uint64(i.LineBytes)
		line := h >> 32 * uint64(len(i.Payload)/i.LineBytes) >> 32
		for range i.K {
			dst = append(dst, line*lineBits+uint64(uint32(h))*lineBits>>32)
			h = uint64(uint32(h) * remix)
		}
	}
	return dst
}
