package bloom

import "github.com/levelbloom/levelbloom/policy/internal/builder"

// A tuningBuilder builds filters whose size and k suit the keys: if some are near neighbors, it
// takes a size that spreads them, and probes the filter with absent keys that lie between its own.
// If too many are false positives, it tries other sizes and ks.
type tuningBuilder struct {
	keys    hashBuilder // not embedded, as LeaveOutRepetitions is not for builders that see keys
	setting *Setting
	absent  neighbors
	trial   []byte // another filter of the same keys
	best    []byte
}

func newTuningBuilder(s *Setting) *tuningBuilder {
	t := &tuningBuilder{keys: newHashBuilder(s), setting: s}
	t.absent.reset()
	return t
}

func (b *tuningBuilder) Add(key []byte) {
	b.keys.Add(key)
	if b.absent.pause > 0 {
		b.absent.pause--
		return
	}
	b.absent.add(key)
}

func (b *tuningBuilder) Len() int { return b.keys.Len() }

func (b *tuningBuilder) Finish(dst []byte) []byte {
	n := b.Len()
	size, largest, k := b.setting.Choice(n)
	tune := n < manyKeys && len(b.absent.hashes) > 0
	if tune { // LevelDB's size would often need a search
		var memory [1]int
		size = uint64(filterSizes(memory[:0], int(size), int(min(largest, size+size/20)))[0])
	}
	start := len(dst)
	dst, filter := builder.Extend(dst, size)
	filter[size-1] = byte(k)
	b.keys.fill(filter)
	if tune && !b.asExpected(filter) {
		dst = append(dst[:start], b.search(filter, int(largest))...)
	}
	dst = b.keys.verified(dst, start)
	b.keys.Reset()
	b.absent.reset()
	return dst
}
