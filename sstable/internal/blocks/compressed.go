package blocks

import (
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// SnappyCanHold reports whether n bytes can have been compressed to so many: a copy of 64 bytes
// takes 3.
func SnappyCanHold(compressed, n int) bool {
	const maxRatio = 22
	return n >= 0 && n/maxRatio <= compressed
}

// A ZstdDecoder decodes zstd frames. The zero value is ready. It is not safe for concurrent use.
type ZstdDecoder struct{ decoder *zstd.Decoder }

// Decode decodes a frame that should become n bytes, into dst's memory if there is room, and else
// into n bytes of its own. It returns an error if the frame does not become n bytes.
func (d *ZstdDecoder) Decode(dst, frame []byte, n int) (decoded []byte, err error) {
	if d.decoder == nil {
		// The limit leaves no room for frames after the first, which n does not include.
		d.decoder, err = zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
	}
	decoded, err = d.decoder.DecodeAll(frame, slices.Grow(dst[:0], n)[:0:n])
	if err == nil && len(decoded) != n {
		err = fmt.Errorf("%d bytes instead of %d", len(decoded), n)
	}
	return decoded, err
}

// MaxZstd returns the most that a zstd frame can become, by the headers of its blocks (RFC 8878,
// section 3.1.1.2); frame is without its own header. A length that promises more is wrong, and nothing is allocated for it. One
// number for all frames would not do: a byte that is repeated 128 Ki times takes 4 bytes.
func MaxZstd(frame []byte) (n uint64) {
	const (
		headerLen   = 3
		repeated    = 1 // a single byte, as often as the size says
		compressed  = 2
		maxContents = 128 << 10 // of a block
	)
	for len(frame) >= headerLen {
		header := uint32(frame[0]) | uint32(frame[1])<<8 | uint32(frame[2])<<16
		last, kind, size := header&1 != 0, header>>1&3, int(header>>3)
		contents, stored := min(size, maxContents), size
		switch kind {
		case repeated:
			stored = 1
		case compressed:
			contents = maxContents
		}
		n += uint64(contents)
		if frame = frame[headerLen:]; last || stored > len(frame) {
			break
		}
		frame = frame[stored:]
	}
	return n
}
