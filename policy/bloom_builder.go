package policy

// bloomBuilder is the builder in plain Go; [newBloomBuilder] may choose a faster one.
type bloomBuilder struct {
	hashBuffer[uint32]
	bloom *Bloom
}

// makeBloomBuilder returns an empty builder.
func makeBloomBuilder(b *Bloom) bloomBuilder {
	return bloomBuilder{hashBuffer[uint32]{pool: &chunks32}, b}
}

func (b *bloomBuilder) Add(key []byte) {
	h := hashTail(hashWords(hashStart(key), key), key)
	if b.full() {
		b.grow()
	}
	b.put(h)
}

func (b *bloomBuilder) Finish(dst []byte) []byte {
	dst, array := b.bloom.extendFilter(dst, b.Len())
	m := newModulus(len(array))
	for hashes := range b.all {
		setProbes(array, m, hashes, b.bloom.k)
	}
	b.reset()
	return dst
}
