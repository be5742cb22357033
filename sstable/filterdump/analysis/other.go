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
	// maxQuestions is how many absent keys of each kind are asked for again.
	maxQuestions = 1 << 13
	// maxTrialKeys and maxTrialBytes bound the memory for one filter in the making: 16 MiB for its keys' hashes, and the
	// filter itself, whose bits per key are what the table's filters say, sound or not.
	maxTrialKeys  = 1 << 21
	maxTrialBytes = 16 << 20
)

// A trial makes and asks the filters of one other setting.
type trial struct {
	result  Other
	shift   int // windows whose indexes are equal after this shift share a filter
	builder policy.Builder
	policy  policy.Policy
	filter  []byte
	index   int // of the filter that builder makes
	ordered bool
	between answers
	random  answers
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
	var p policy.Policy
	var err error
	if e == encoding.BlockedBloom {
		p, err = policy.NewBlockedBloom(bitsPerKey)
	} else {
		p, err = policy.NewBloom(bitsPerKey)
	}
	if err != nil {
		return nil
	}
	l.encoding, l.bitsPerKey = e, bitsPerKey
	keys := l.keys
	t := &trial{policy: p, builder: p.NewBuilder(), ordered: true, result: Other{Encoding: e.String(), BitsPerKey: bitsPerKey}}
	if l.perWindow {
		t.result.BaseLg, t.shift = baseLg, baseLg-l.baseLg
		keys = l.merged(baseLg)
	}
	for _, n := range keys {
		if n > maxTrialKeys || l.filterBytes(n) > maxTrialBytes {
			return nil
		}
	}
	t.between, t.random = waiting(between, t.shift), waiting(random, t.shift)
	return t
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
	t.between.ask(t)
	t.random.ask(t)
}

// conclude returns what came out, or false if the filters came in no order and could not be made.
func (t *trial) conclude() (Other, bool) {
	t.finish()
	t.result.Between, t.result.Random = t.between.rate(), t.random.rate()
	return t.result, t.ordered
}

// trials returns the settings worth trying: more bits, and where absent keys between the table's own fare badly, blocked Bloom
// and larger windows.
func trials(l layout, dense bool, between, random []question) (all []*trial) {
	try := func(e encoding.Encoding, bitsPerKey float64, baseLg int) {
		if t := newTrial(l, e, bitsPerKey, baseLg, between, random); t != nil {
			all = append(all, t)
		}
	}
	try(l.encoding, max(usualBits, math.Ceil(2*l.bitsPerKey)), l.baseLg)
	if !dense {
		return all
	}
	if l.encoding != encoding.BlockedBloom {
		try(encoding.BlockedBloom, l.bitsPerKey, l.baseLg)
	}
	if l.perWindow {
		for _, baseLg := range []int{14, 16, 18, 20} {
			if baseLg > l.baseLg {
				try(l.encoding, l.bitsPerKey, baseLg)
			}
		}
	}
	return all
}
