package analysis

import (
	"bytes"
	"math"

	"github.com/levelbloom/levelbloom/policy"
)

// The effect of another setting is tried, because no formula gives it for dense keys. In a second
// pass over the table's entries, the filters of the other setting are built one after the other, and
// asked about some of the absent keys that the table's own filters were asked about.

const (
	maxBetweenQuestions = 1 << 15
	maxRandomQuestions  = 1 << 13

	// A filter of more keys or bytes is not built: its keys' hashes alone take 16 MiB.
	maxTrialKeys  = 1 << 21
	maxTrialBytes = 16 << 20
)

// A trial builds and asks the filters of one other setting.
type trial struct {
	result  Trial
	setting setting
	shift   int // windows whose indexes are equal after this shift share a filter
	policy  sizedPolicy
	builder policy.Builder
	filter  []byte
	index   int    // of the filter that builder builds
	last    []byte // key; Pebble adds a repeated one once
	failed  bool   // too large a filter, or filters in no order
	between answers
	random  answers
}

// answers are the absent keys to ask about, by the index of the filter, and what came out.
type answers struct {
	waiting       map[int][][]byte
	asked, passed int64
}

func waiting(questions []question, shift int) answers {
	a := answers{waiting: map[int][][]byte{}}
	for _, q := range questions {
		a.waiting[q.filter>>shift] = append(a.waiting[q.filter>>shift], q.key)
	}
	return a
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

// rate completes the answers: filters without keys answer "absent".
func (a *answers) rate() Rate {
	for _, keys := range a.waiting {
		a.asked += int64(len(keys))
	}
	return newRate(a.asked, a.passed)
}

// trials returns the settings worth trying: more bits where there are few; and more bits, larger
// windows and the other kinds where keys between the table's own have many false positives.
func (p *prober) trials() (all []*trial) {
	s := p.setting
	if s == nil {
		return nil
	}
	dense := p.report.Between.clearlyAbove(p.report.Random)
	if dense || s.bitsPerKey < fewBits {
		all = append(all, p.newTrial(s.kind, max(usualBits, math.Ceil(2*s.bitsPerKey)), s.baseLg))
	}
	for _, k := range kinds {
		if dense && k.encoding != s.kind.encoding {
			all = append(all, p.newTrial(k, s.bitsPerKey, s.baseLg))
		}
	}
	for _, baseLg := range []int{14, 16, 18} {
		if dense && s.perWindow && baseLg > s.baseLg {
			all = append(all, p.newTrial(s.kind, s.bitsPerKey, baseLg))
		}
	}
	return all
}

func (p *prober) newTrial(k kind, bitsPerKey float64, baseLg int) *trial {
	t := &trial{setting: *p.setting}
	t.setting.kind, t.setting.bitsPerKey, t.setting.baseLg = k, bitsPerKey, baseLg
	t.result = Trial{Encoding: k.encoding.String(), BitsPerKey: bitsPerKey}
	if p.setting.perWindow {
		t.result.BaseLg, t.shift = baseLg, baseLg-p.setting.baseLg
	}
	t.between = waiting(p.between.sample, t.shift)
	t.random = waiting(p.random.sample, t.shift)
	var err error
	if t.policy, err = k.new(bitsPerKey); err != nil {
		t.failed = true
		return t
	}
	t.builder = t.policy.NewBuilder()
	return t
}

// add takes an entry of the table. In a sound table, filters come in order.
func (t *trial) add(filter int, key []byte) {
	if filter < 0 || t.failed {
		return
	}
	if index := filter >> t.shift; index != t.index {
		t.finish()
		t.failed = index < t.index
		t.index = index
	} else if !t.setting.perWindow && t.builder.Len() > 0 && bytes.Equal(key, t.last) {
		return
	}
	t.builder.Add(key)
	t.last = append(t.last[:0], key...)
	n := t.builder.Len()
	t.failed = t.failed || n > maxTrialKeys || t.policy.FilterSize(n) > maxTrialBytes
}

// finish builds the filter of the keys added, and asks it.
func (t *trial) finish() {
	if t.builder.Len() == 0 {
		return
	}
	t.filter = t.builder.Finish(t.filter[:0])
	t.between.ask(t)
	t.random.ask(t)
}

// conclude returns what came out, or false if the filters could not be built.
func (t *trial) conclude() (Trial, bool) {
	if t.failed {
		return Trial{}, false
	}
	t.finish()
	t.result.Between, t.result.Random = t.between.rate(), t.random.rate()
	return t.result, true
}
