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
	extended, array := b.bloom.extendFilter(dst, b.Len())
	b.fill(array, b.bloom.k)
	extended = b.verified(extended, len(dst))
	b.reset()
	return extended
}

// verified verifies the filter in dst from start on if the policy says so.
func (b *bloomBuilder) verified(dst []byte, start int) []byte {
	if b.bloom.verify {
		return verified(dst, start, &b.hashBuffer, bloomHasAll)
	}
	return dst
}

// fill sets the k probes of all keys.
func (b *bloomBuilder) fill(array []byte, k int) {
	m := newModulus(len(array))
	for hashes := range b.all {
		setProbes(array, m, hashes, k)
	}
}

// fillOne sets probe j of all keys after fill.
func (b *bloomBuilder) fillOne(array []byte, m modulus, j int) {
	for hashes := range b.all {
		for _, h := range hashes {
			setProbe(array, m, h+uint32(j)*probeDelta(h))
		}
	}
}

// A bloomFiller is a builder that can fill more than one array with the same keys.
type bloomFiller interface {
	Builder
	fill(array []byte, k int)
	fillOne(array []byte, m modulus, j int)
	verified(dst []byte, start int) []byte
	reset()
}
