package policy

// blockedBuilder keeps the hash of every added key, as bloomBuilder does.
type blockedBuilder struct {
	keyHashes
	bloom *BlockedBloom
}

func (b *blockedBuilder) Add(key []byte) {
	h := keyHash(key)
	if b.full() {
		b.grow()
	}
	b.put(h)
}

func (b *blockedBuilder) Finish(dst []byte) []byte {
	dst, payload := b.bloom.extend(dst, b.n)
	for hashes := range b.all {
		setBlocked(payload, hashes, b.bloom.k)
	}
	b.reset()
	return dst
}
