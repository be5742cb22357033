package ratebench

import "github.com/levelbloom/levelbloom/policy"

// newSizedBuilder returns a builder whose filters have the size for capacity keys, however many
// they contain. Repetitions, which count as keys, make up for keys that are missing. Too many keys
// are divided among several filters: the bits of a Bloom filter are those of its keys, so the
// filter of all keys has the bits of all these filters. That is true of kinds that HasRoom.
func newSizedBuilder(p policy.Policy, capacity int) *sizedBuilder {
	return &sizedBuilder{Builder: p.NewBuilder(), capacity: capacity}
}

type sizedBuilder struct {
	policy.Builder
	capacity int
	last     []byte // a copy of the last key
	filter   []byte // of all keys that are in Builder no more
}

func (b *sizedBuilder) Add(key []byte) {
	if b.Len() == b.capacity {
		b.unite()
	}
	b.Builder.Add(key)
	b.last = append(b.last[:0], key...)
}

func (b *sizedBuilder) Finish(dst []byte) []byte {
	b.unite()
	dst = append(dst, b.filter...)
	b.filter = nil
	return dst
}

// unite builds a filter and adds its bits to the others.
func (b *sizedBuilder) unite() {
	for b.Len() < b.capacity {
		b.Builder.Add(b.last)
	}
	filter := b.Builder.Finish(nil)
	if b.filter == nil {
		b.filter = filter
		return
	}
	for i := range filter { // what follows the bits is the same in all
		b.filter[i] |= filter[i]
	}
}
