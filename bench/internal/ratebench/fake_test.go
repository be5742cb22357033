package ratebench

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/policy"
)

// fake is a policy whose filters know their keys, and whose false-positive rate is known: rateOf
// each filter.
type fake struct {
	rateOf func(filter uint64) float64 // of a random number that is the filter's
	lose   bool
}

func always(rate float64) fake { return fake{rateOf: func(uint64) float64 { return rate }} }

// varying has filters with a rate of 0.4 and others, as many, of 0.
var varying = fake{rateOf: func(filter uint64) float64 { return 0.4 * float64(filter%2) }}

func (f fake) kind(name string) kind.Kind {
	return kind.Kind{Name: name, Encoding: policy.EncodingBloom,
		New: func(float64) (policy.Policy, error) { return f, nil }}
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
	return float64(keys.Mix(number^sought)>>11) < f.rateOf(number)*(1<<53)
}

// keyNumber is a hash by which no two keys of a test collide.
func keyNumber(key []byte) uint64 {
	h := fnv.New64a()
	h.Write(key)
	return keys.Mix(h.Sum64())
}

// A filter is a number, the numbers of its keys, and a last byte that is LevelDB's k.
type fakeBuilder struct{ numbers []uint64 }

func (b *fakeBuilder) Add(key []byte) { b.numbers = append(b.numbers, keyNumber(key)) }
func (b *fakeBuilder) Len() int       { return len(b.numbers) }

func (b *fakeBuilder) Finish(dst []byte) []byte {
	var number uint64
	for _, n := range b.numbers {
		number ^= n
	}
	dst = binary.LittleEndian.AppendUint64(dst, keys.Mix(number))
	for _, n := range b.numbers {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	b.numbers = b.numbers[:0]
	return append(dst, 6)
}
