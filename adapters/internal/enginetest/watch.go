package enginetest

import (
	"maps"
	"strings"
	"sync"

	"github.com/levelbloom/levelbloom/policy"
)

// A Watch counts what filters answer, at the engine's side of an adapter. It is safe for concurrent
// use.
type Watch struct {
	Saw  func(name string, filter []byte, answer bool) // nil, or called for every check
	Lies bool                                          // the engine is always told "absent"

	mu      sync.Mutex
	answers map[Label]policy.Counters
}

// A Label tells filters apart.
type Label struct {
	Name string // of the policy
	Kind Kind   // "unknown" for Pebble's own, and for empty filters
}

func labelOf(name string, filter []byte) Label {
	if strings.HasPrefix(name, "rocksdb.") {
		return Label{name, "unknown"}
	}
	info, _ := policy.Parse(filter)
	return Label{name, Kind(info.Kind)}
}

// Note counts an answer of a filter and returns it, unless w lies.
func (w *Watch) Note(name string, filter []byte, mayContain bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Saw != nil {
		w.Saw(name, filter, mayContain)
	}
	if w.answers == nil {
		w.answers = make(map[Label]policy.Counters)
	}
	l := labelOf(name, filter)
	c := w.answers[l]
	if mayContain {
		c.MayContain++
	} else {
		c.Absent++
	}
	w.answers[l] = c
	return mayContain && !w.Lies
}

// Take returns the answers since the last Take.
func (w *Watch) Take() map[Label]policy.Counters {
	w.mu.Lock()
	defer w.mu.Unlock()
	answers := maps.Clone(w.answers)
	clear(w.answers)
	return answers
}

// Sum adds up answers.
func Sum(answers map[Label]policy.Counters) (s policy.Counters) {
	for _, c := range answers {
		s.Absent += c.Absent
		s.MayContain += c.MayContain
	}
	return s
}

// Checks returns how often filters were consulted.
func Checks(c policy.Counters) uint64 { return c.Absent + c.MayContain }
