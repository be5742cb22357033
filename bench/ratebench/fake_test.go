package ratebench

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/levelbloom/levelbloom/bench/keyset"
	"github.com/levelbloom/levelbloom/policy"
)

// fake is a policy whose filters know their keys, and whose false-positive rate is known: rateOf each filter.
type fake struct {
	rateOf func(filter uint64) float64 // of a random number that is the filter's
	lose   bool
}

func (f fake) encoding(name string) Encoding {
	return Encoding{name, "a fake", func(float64) (policy.Policy, error) { return f, nil }, nil}
}

func (f fake) Name() string { return "fake" }

func (f fake) NewBuilder() policy.Builder { return &fakeBuilder{} }

func (f fake) MayContain(filter, key []byte) bool {
	number, sought := binary.LittleEndian.Uint64(filter), keyNumber(key)
	for filter = filter[8:]; len(filter) > 1; filter = filter[8:] {
		if binary.LittleEndian.Uint64(filter) == sought {
			return !f.lose
		}
	}
	answer := keyset.Mix(number^sought) >> 11
	return float64(answer) < f.rateOf(number)*(1<<53)
}

// keyNumber is a hash by which no two keys of a test collide.
func keyNumber(key []byte) uint64 {
	h := fnv.New64a()
	h.Write(key)
	return keyset.Mix(h.Sum64())
}

// A filter is a number, the numbers of its keys, and the last byte of an exact filter.
type fakeBuilder struct{ numbers []uint64 }

func (b *fakeBuilder) Add(key []byte) { b.numbers = append(b.numbers, keyNumber(key)) }
func (b *fakeBuilder) Len() int       { return len(b.numbers) }
func (b *fakeBuilder) Size() int      { return 8*(len(b.numbers)+1) + 1 }

func (b *fakeBuilder) Finish(dst []byte) []byte {
	var number uint64
	for _, n := range b.numbers {
		number ^= n
	}
	dst = binary.LittleEndian.AppendUint64(dst, keyset.Mix(number))
	for _, n := range b.numbers {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	b.numbers = b.numbers[:0]
	return append(dst, 0)
}
