package enginetest

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// A Watch counts what filters answer, at the engine's side of an adapter. It is safe for concurrent
// use.
type Watch struct {
	Saw func(name string, filter []byte, answer bool) // nil, or called for every check

	mu      sync.Mutex
	answers map[Label]policy.Counters
}

// A Label tells filters apart.
type Label struct {
	Name     string // of the policy
	Encoding string // EncodingUnknown for Pebble's own, and for empty filters
}

func labelOf(name string, filter []byte) Label {
	if strings.HasPrefix(name, "rocksdb.") {
		return Label{name, policy.EncodingUnknown}
	}
	info, _ := policy.Parse(filter)
	return Label{name, info.Encoding}
}

// Note counts an answer of a filter and returns it.
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
		c.ReadsAvoided++
	}
	w.answers[l] = c
	return mayContain
}

// Take returns the answers since the last Take.
func (w *Watch) Take() map[Label]policy.Counters {
	w.mu.Lock()
	defer w.mu.Unlock()
	answers := maps.Clone(w.answers)
	clear(w.answers)
	return answers
}

// sum adds up answers.
func sum(answers map[Label]policy.Counters) (s policy.Counters) {
	for _, c := range answers {
		s.ReadsAvoided += c.ReadsAvoided
		s.MayContain += c.MayContain
	}
	return s
}

// Checks returns how often filters were consulted.
func Checks(c policy.Counters) uint64 { return c.ReadsAvoided + c.MayContain }

// requireOnly requires that only filters of a kind have answered. Those of no keys may be of
// LevelDB's encoding.
func requireOnly(t *testing.T, answers map[Label]policy.Counters, kind Kind) {
	t.Helper()
	for label := range answers {
		require.Equal(t, "mine", label.Name)
		require.Contains(t, []string{kind.Encoding, policy.EncodingBloom}, label.Encoding)
	}
}

// A Spy is a policy that counts checks and answers.
type Spy struct {
	policy.Policy
	Lies            bool                             // it answers "absent" always
	Saw             func(filter []byte, answer bool) // nil, or called for every check
	Checked, Absent atomic.Int64
}

// MayContain implements policy.Policy.
func (s *Spy) MayContain(filter, key []byte) bool {
	answer := s.Policy.MayContain(filter, key) && !s.Lies
	s.Checked.Add(1)
	if !answer {
		s.Absent.Add(1)
	}
	if s.Saw != nil {
		s.Saw(filter, answer)
	}
	return answer
}
