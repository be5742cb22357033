package sstable

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"
)

func (r *blockReader) decompressZstd(block []byte) ([]byte, error) {
	var header zstd.Header
	frame, err := header.DecodeAndStrip(block)
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	n := header.FrameContentSize
	if !header.HasFCS {
		return nil, errors.New("zstd: a frame that does not tell its length, which LevelDB needs")
	}
	if n > maxZstdContents(frame) || n > math.MaxInt {
		return nil, fmt.Errorf("zstd: %d bytes cannot hold %d", len(block), n)
	}
	if r.zstd == nil {
		// The limit leaves no room for frames behind the first, which are not in its length.
		r.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
	}
	r.decoded = slices.Grow(r.decoded[:0], int(n))
	decoded, err := r.zstd.DecodeAll(block, r.decoded[:0:n])
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return decoded, nil
}

// maxZstdContents returns the most that a zstd frame can become, by the headers of its blocks (RFC 8878, section 3.1.1.2). A
// length that promises more is wrong, and nothing is allocated for it. One number for all frames would not do: a byte that is
// repeated 128 Ki times takes 4 bytes.
func maxZstdContents(frame []byte) (n uint64) {
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
