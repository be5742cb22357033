package policy

import "sync"

// blockedBuilder keeps the hash of every added key, as bloomBuilder does.
type blockedBuilder struct {
	bloom  *BlockedBloom
	last   *keyHashChunk // of chunks
	chunks []*keyHashChunk
	n      int // hashes in chunks; all chunks but the last are full
}

// 16 KiB, as a hashChunk.
type keyHashChunk [2048]uint64

var keyHashChunks = sync.Pool{New: func() any { return new(keyHashChunk) }}

func (b *blockedBuilder) Add(key []byte) {
	h := keyHash(key)
	i := uint(b.n) % uint(len(keyHashChunk{}))
	if i == 0 {
		b.last = keyHashChunks.Get().(*keyHashChunk)
		b.chunks = append(b.chunks, b.last)
	}
	b.last[i] = h
	b.n++
}

func (b *blockedBuilder) Len() int { return b.n }

func (b *blockedBuilder) Size() int { return b.bloom.payloadSize(b.n) + blockedTrailer }

func (b *blockedBuilder) Finish(dst []byte) []byte {
	dst, payload := b.bloom.extend(dst, b.n)
	left := b.n
	for _, c := range b.chunks {
		setBlocked(payload, c[:min(left, len(c))], b.bloom.k)
		left -= len(c)
		keyHashChunks.Put(c)
	}
	clear(b.chunks) // they are other builders' now
	b.chunks, b.last, b.n = b.chunks[:0], nil, 0
	return dst
}
