package policy

import (
	"fmt"
	"math"
)

// WithTuning lets [NewBloom] choose the size and k of each filter. Before a builder returns a
// filter, it makes absent keys between its own and asks the filter about them. If too many are
// false positives, it tries other sizes and other ks and returns the best filter. Every reader of
// LevelDB's filters, C++ LevelDB and goleveldb among them, takes size and k from the filter. So all
// of them read tuned filters, and have their low rate.
//
// memory is the largest part by which a filter may exceed LevelDB's size: above 0 and at most 1,
// usually 0.05. Some filters are smaller than LevelDB's.
//
// Tuning is for keys that end in numbers, such as counters and zero-padded decimals. In filters of
// up to some thousands of them, LevelDB's choice has up to 99 % false positives among the neighbors
// of the keys, where 1 % is expected. Tuned filters have about 1 %. Binary big-endian counters
// still have about 10 % in filters of up to 100 keys, and about 1 % with some thousands
// (go test ./policy -run TuningTable -v). Keys must be added in order, as engines do. A filter
// keeps LevelDB's bytes if they are not, if no keys are near neighbors, as with random keys, or if
// LevelDB's choice is as expected.
//
// From 32,768 keys on, a builder tries nothing: every filter gets two more probes than LevelDB's
// and a size that suits all keys. From about 50,000 dense decimal keys in one filter on, different
// keys have the same 32-bit hash, and nothing in the format helps: use [NewRibbon] there
// (`go run ./bench rates -n 20k,50k` shows it).
//
// A builder takes up to 5 KiB more memory (TestNeighborsAreBounded), a copy of one key, and twice
// the memory of the filter while it tries others. Building takes up to 1.5 times as long for random
// keys, and for dense ones up to 8 times with 100 keys and twice with 10,000. Where it tries other
// filters, it takes up to 12 times as long with 20 to 100 keys if most of a range are present and
// 25 times if a tenth of them are, 8 times with 500 keys and 4 times with 10,000
// (go test ./policy -run '^$' -bench BuildTuned -benchtime 1x).
func WithTuning(memory float64) BloomOption {
	return bloomOption(func(s *settings) error {
		if !(memory > 0 && memory <= 1) { // a NaN fails every comparison
			return fmt.Errorf("policy: tuning with %v more memory: "+
				"pass a part above 0 and at most 1, usually 0.05", memory)
		}
		s.tuning = memory
		return nil
	})
}

// A tuningBuilder builds the filters of [WithTuning].
type tuningBuilder struct {
	bloomFiller
	bloom  *Bloom
	absent neighbors
	trial  []byte // another filter of the same keys
	best   []byte
}

func newTuningBuilder(b *Bloom) *tuningBuilder {
	t := &tuningBuilder{bloomFiller: newBloomBuilder(b), bloom: b}
	t.absent.reset()
	return t
}

func (b *tuningBuilder) Add(key []byte) {
	b.bloomFiller.Add(key)
	if b.absent.pause > 0 {
		b.absent.pause--
		return
	}
	b.absent.add(key)
}

func (b *tuningBuilder) Finish(dst []byte) []byte {
	n := b.Len()
	size, largest, k := b.bloom.choice(n)
	many := n >= manyKeys
	start := len(dst)
	dst, filter := b.bloom.extend(dst, size, n)
	b.write(filter, k)
	if !many && len(b.absent.hashes) > 0 && !b.asExpected(filter) {
		dst = append(dst[:start], b.search(filter, int(min(largest, math.MaxInt)))...)
	}
	dst = b.verified(dst, start)
	b.reset()
	b.absent.reset()
	return dst
}

// write writes the filter of all keys into cleared memory of its size.
func (b *tuningBuilder) write(filter []byte, k int) {
	last := len(filter) - 1
	filter[last] = byte(k)
	b.fill(filter[:last], k)
}
