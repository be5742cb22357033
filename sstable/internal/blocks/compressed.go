package blocks

import (
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// SnappyCanHold reports whether a block of compressed bytes can decode to n bytes: a copy of 64
// bytes takes 3.
func SnappyCanHold(compressed, n int) bool {
	const maxRatio = 22
	return n >= 0 && n/maxRatio <= compressed
}

// A ZstdDecoder decodes zstd frames. The zero value is ready. It is not safe for concurrent use.
type ZstdDecoder struct{ decoder *zstd.Decoder }

// Decode decodes a frame into dst's memory if there is room, and else into memory of its own. It
// returns an error if the frame does not become the n bytes that its header promises: header is
// that of the frame, and contents is what follows it.
//
// A promise of n bytes may be false, which only decoding shows: 4 bytes of a frame can stand for
// 128 KiB. So a frame that promises much more than it has bytes gets memory in steps, as long as it
// keeps the promise.
func (d *ZstdDecoder) Decode(
	dst, frame []byte, header zstd.Header, contents []byte, n int,
) (decoded []byte, err error) {
	if d.decoder == nil {
		// The limit leaves no room for frames after the first, which n does not include.
		d.decoder, err = zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
	}
	const (
		plenty = 512 << 10
		block  = 128 << 10 // the most that the next block of a frame can add
	)
	room := min(n, max(plenty, 2*len(frame), cap(dst)))
	if room < n {
		short, err := withoutLength(header, contents)
		if err != nil {
			return nil, err
		}
		for ; room < n; room += min(room, n-room) {
			dst = slices.Grow(dst[:0], room)
			decoded, err = d.decoder.DecodeAll(short, dst[:0:room])
			// The decoder has several errors for a lack of room.
			if full := err != nil && len(decoded) > room-block; !full {
				return nil, wrongLength(len(decoded), n)
			}
		}
	}
	dst = slices.Grow(dst[:0], n)
	decoded, err = d.decoder.DecodeAll(frame, dst[:0:n])
	if err == nil && len(decoded) != n {
		err = wrongLength(len(decoded), n)
	}
	return decoded, err
}

func wrongLength(got, want int) error {
	return fmt.Errorf("%d bytes instead of %d", got, want)
}

// withoutLength returns a frame whose header does not promise a length: the decoder refuses one
// that has no room for its length, and decodes this one until its room is full.
func withoutLength(header zstd.Header, contents []byte) ([]byte, error) {
	if header.SingleSegment { // the window is the whole frame
		header.WindowSize = header.FrameContentSize
	}
	if header.WindowSize > zstd.MaxWindowSize {
		return nil, zstd.ErrWindowSizeExceeded
	}
	header.SingleSegment, header.HasFCS, header.FrameContentSize = false, false, 0
	frame, err := header.AppendTo(nil)
	return append(frame, contents...), err
}
