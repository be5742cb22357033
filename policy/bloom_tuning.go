package policy

import (
	"errors"
	"fmt"
	"math"
)

// WithTuning lets [NewBloom] choose the size and k of a filter by asking it: before it is written,
// the builder asks it about absent keys between and after its own. If more of them are false
// positives than the setting predicts, the builder tries a few other sizes and ks and takes the
// best. memory is the largest part that a filter may take more than [Bloom.FilterSize] says, above
// 0 and at most 1; 0.05 is usual. Some filters become smaller.
//
// Every reader of LevelDB's filters takes size and k from the filter, so C++ LevelDB, goleveldb and
// all others read tuned filters and get their rate. Without this option, filters are byte for byte
// those of C++ LevelDB.
//
// It is for keys that are numbers or end in them, as counters, dates and zero-padded decimals: of
// such keys, a filter with LevelDB's choice can have 2 to 99 % false positives where 1 % is
// expected, if it has fewer than some thousands (go test ./policy -run TuningTable -v prints the
// rates before and after). The builder must get the keys in order, as engines deliver them. Where
// they are not in order, or have no near neighbors, as random keys, it writes LevelDB's bytes. So it
// does where LevelDB's choice has the expected rate.
//
// From 65,536 keys on, the filter is not asked: it takes a size in which few probes coincide, and
// two more probes per key, for any keys. That is better for random keys too, since one of LevelDB's
// probes takes only 2^17 values. From about 200,000 dense keys on, the 32-bit hashes themselves
// collide, and nothing in the format helps; [NewBlockedBloom] does.
//
// A builder keeps up to 64 keys and 4 KiB more. If it takes the first filter, building takes 1.1 to
// 2 times as long, otherwise up to 12 times with 100 keys and 2 times with 10,000
// (go test ./policy -run '^$' -bench BuildTuned).
func WithTuning(memory float64) Option {
	return func(c *common) error {
		if !(memory > 0 && memory <= 1) { // a NaN fails every comparison
			return fmt.Errorf("policy: tuning with %v more memory: "+
				"pass a part above 0 and at most 1, usually 0.05", memory)
		}
		c.tuning = memory
		return nil
	}
}

// refuseTuning returns an error if the option of another policy is among this one's.
func (c *common) refuseTuning() error {
	if c.tuning > 0 {
		return errors.New("policy: WithTuning is an option of NewBloom: leave it out here")
	}
	return nil
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
	size, k := b.bloom.FilterSize(n), b.bloom.k
	largest := size + uint64(float64(size)*b.bloom.tuning)
	many := n >= manyKeys
	if many {
		size, k = choiceForMany(size, largest, k)
	}
	start := len(dst)
	dst, filter := b.bloom.extend(dst, size, n)
	b.write(filter, k)
	if !many && len(b.absent.hashes) > 0 && !b.asExpected(filter) {
		dst = append(dst[:start], b.search(filter, int(min(largest, math.MaxInt)))...)
	}
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
