package policy

import (
	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
)

// MayContain reports whether key may be one of the keys that filter was built from; LevelDB calls
// it KeyMayMatch. It reads the filters of every policy of this package, whatever their settings.
// It accepts any bytes; FORMAT.md lists its answers to malformed filters. It allocates nothing and
// is safe for concurrent use.
func MayContain(filter, key []byte) bool { return uncounted.MayContain(filter, key) }

var uncounted Policy // reading needs no setting

// MayContain answers as the function [MayContain] does. If p was made with [WithCounters], it also
// counts the answer.
func (p *Policy) MayContain(filter, key []byte) bool {
	if p.setting.Counters != nil {
		return p.countMayContain(filter, key)
	}
	// One function, because a call would limit how many lookups the processor overlaps.
	if len(filter) < 2 {
		return false
	}
	k := filter[len(filter)-1]
	if k > bloom.MaxProbes {
		if k == ribbon.Encoding {
			return ribbon.Contains(filter, ribbon.Hash(key))
		}
		return true // this package does not know the encoding
	}
	bits := bloom.NewBits(filter) // its division overlaps the hash
	h := bloom.HashTail(bloom.HashWords(bloom.HashStart(key), key), key)
	if k < 5 {
		return bits.Contains(h, int(k))
	}
	delta := bloom.Delta(h)
	// The answer is the AND of k bits, so their order is free. Four probes are tested together:
	// tested one by one, every second branch of an absent key is a coin toss, and a wrong
	// prediction costs more than all the probes. Together they find 15 of 16 absent keys if half of
	// the bits are set, so the one branch is nearly always predicted right. Probe 2 waits: in a
	// large filter it is nearly always set (bloom.FPP says why).
	if bits.Probe(h)&bits.Probe(h+delta)&bits.Probe(h+3*delta)&bits.Probe(h+4*delta)&1 == 0 {
		return false
	}
	rest := bits.Probe(h + 2*delta)
	for h += 5 * delta; k > 5; k-- {
		rest &= bits.Probe(h)
		h += delta
	}
	return rest&1 != 0
}

func (p *Policy) countMayContain(filter, key []byte) bool {
	may := MayContain(filter, key)
	if may {
		p.setting.Counters.MayContain.Add(1)
	} else {
		p.setting.Counters.Absent.Add(1)
	}
	return may
}
