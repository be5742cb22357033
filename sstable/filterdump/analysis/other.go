package analysis

import (
	"math"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/encoding"
)

// What other settings would do is tried and not computed: for dense keys no formula tells it. While the table's entries
// pass by once more, the filters of the other setting are made of them, one after the other, and asked for a part of the
// absent keys that the table's own were asked for.

const (
	// maxQuestions is how many absent keys between the table's own are asked for again, and maxRandom how many random ones.
	maxQuestions = 1 << 15
	maxRandom    = 1 << 13
	// maxTrialKeys and maxTrialBytes bound the memory for one filter in the making: 16 MiB for its keys' hashes, and the
	// filter itself, whose bits per key are what the table's filters say, sound or not. To make binary fuse filters takes
	// more memory than the hashes do, so there it is maxFuseTrialKeys.
	maxTrialKeys     = 1 << 21
	maxFuseTrialKeys = 1 << 20
	maxTrialBytes    = 16 << 20
)

// A trial makes and asks the filters of one other setting.
type trial struct {
	result    Other
	encoding  encoding.Encoding
	shift     int // windows whose indexes are equal after this shift share a filter
	builder   policy.Builder
	policy    policy.Policy
	filter    []byte
	index     int // of the filter that builder makes
	made, own int // filters, and those of encoding: a policy may choose another
	ordered   bool
	between   answers
	random    answers
}

// answers are the absent keys that a trial asks for, by the index of the filter, and what came out.
type answers struct {
	waiting       map[int][][]byte
	asked, passed int64
}

func (a *answers) ask(t *trial) {
	for _, key := range a.waiting[t.index] {
		a.asked++
		if t.policy.MayContain(t.filter, key) {
			a.passed++
		}
	}
	delete(a.waiting, t.index)
}

func waiting(questions []question, shift int) answers {
	a := answers{waiting: map[int][][]byte{}}
	for _, q := range questions {
		a.waiting[q.filter>>shift] = append(a.waiting[q.filter>>shift], q.key)
	}
	return a
}

// rate completes the answers: filters that have no keys answer "absent".
func (a *answers) rate() Rate {
	for _, keys := range a.waiting {
		a.asked += int64(len(keys))
	}
	return newRate(a.asked, a.passed)
}

// newTrial tries l with another setting. It returns nil if that is out of reach: too large a filter, or no such policy.
func newTrial(l layout, e encoding.Encoding, bitsPerKey float64, baseLg int, between, random []question) *trial {
	p, err := policyOf(e, bitsPerKey)
	if err != nil {
		return nil
	}
	l.encoding, l.bitsPerKey = e, bitsPerKey
	keys := l.keys
	t := &trial{encoding: e, policy: p, builder: p.NewBuilder(), ordered: true, result: Other{Encoding: e.String(), BitsPerKey: bitsPerKey}}
	if l.perWindow {
		t.result.BaseLg, t.shift = baseLg, baseLg-l.baseLg
		keys = l.merged(baseLg)
	}
	maxKeys := int64(maxTrialKeys)
	if e == encoding.BinaryFuse {
		maxKeys = maxFuseTrialKeys
	}
	for _, n := range keys {
		if n > maxKeys || l.filterBytes(n) > maxTrialBytes {
			return nil
		}
	}
	t.between, t.random = waiting(between, t.shift), waiting(random, t.shift)
	return t
}

// policyOf returns the policy that makes filters of an encoding.
func policyOf(e encoding.Encoding, bitsPerKey float64) (policy.Policy, error) {
	switch e {
	case encoding.BlockedBloom:
		return policy.NewBlockedBloom(bitsPerKey)
	case encoding.BinaryFuse:
		return policy.NewBinaryFuse(bitsPerKey)
	default:
		return policy.NewBloom(bitsPerKey)
	}
}

// add takes an entry of the table. Filters come in order, in a sound table.
func (t *trial) add(filter int, key []byte) {
	index := filter >> t.shift
	if index != t.index {
		t.finish()
		t.ordered = t.ordered && index > t.index
		t.index = index
	}
	if t.ordered {
		t.builder.Add(key)
	}
}

// finish makes the filter of the keys added, and asks it.
func (t *trial) finish() {
	if t.builder.Len() == 0 {
		return
	}
	t.filter = t.builder.Finish(t.filter[:0])
	t.made++
	if encoding.LevelDB.Of(t.filter) == t.encoding {
		t.own++
	}
	t.between.ask(t)
	t.random.ask(t)
}

// conclude returns what came out, or false if the filters came in no order and could not be made, or if most were made of
// another encoding.
func (t *trial) conclude() (Other, bool) {
	t.finish()
	t.result.Between, t.result.Random = t.between.rate(), t.random.rate()
	return t.result, t.ordered && t.made <= 2*t.own
}

// trials returns the settings worth trying: more bits where there are few; more bits, blocked Bloom and larger windows where
// absent keys between the table's own fare badly; and binary fuse where it can do clearly better.
func trials(l layout, r *Report, between, random []question) (all []*trial) {
	try := func(e encoding.Encoding, bitsPerKey float64, baseLg int) {
		if t := newTrial(l, e, bitsPerKey, baseLg, between, random); t != nil {
			all = append(all, t)
		}
	}
	dense := r.Between.clearlyAbove(r.Random)
	if dense || l.bitsPerKey < fewBits {
		try(l.encoding, max(usualBits, math.Ceil(2*l.bitsPerKey)), l.baseLg)
	}
	if dense && l.encoding != encoding.BlockedBloom {
		try(encoding.BlockedBloom, l.bitsPerKey, l.baseLg)
	}
	fuse := newRate(maxQuestions, maxQuestions>>8) // with the shortest fingerprints, whatever the keys
	if l.mayBeFuse() && r.Between.isTwice(fuse, worthFuse) {
		try(encoding.BinaryFuse, l.bitsPerKey, l.baseLg)
	}
	if dense && l.perWindow {
		for _, baseLg := range []int{14, 16, 18, 20} {
			if baseLg > l.baseLg {
				try(l.encoding, l.bitsPerKey, baseLg)
			}
		}
	}
	return all
}
