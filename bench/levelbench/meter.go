package levelbench

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/levelbloom/levelbloom/bench/kind"
)

// A meter counts what the filters of one level are asked, and what it takes to make them. It is a policy around that of the
// level, this module's or Pebble's own. It knows the filters that were made for the level: Pebble may move a table down
// without writing it anew.
type meter struct {
	pebble.FilterPolicy
	name     string
	encoding Encoding
	asking   *action    // what the one goroutine that looks up keys is doing
	answers  [2]answers // to a miss and to a hit

	mutex sync.Mutex
	built Built
}

type answers struct{ checks, avoided atomic.Int64 }

// newMeter returns a meter for the filters that policy p makes in a level. Its name is one that no other level has, because
// Pebble finds the policy to ask by its name.
func newMeter(p pebble.FilterPolicy, e Encoding, level int) *meter {
	return &meter{FilterPolicy: p, name: fmt.Sprintf("%s in L%d", e.Name, level), encoding: e, asking: new(action)}
}

func (m *meter) Name() string { return m.name }

func (m *meter) MayContain(t pebble.FilterType, filter, key []byte) bool {
	a := &m.answers[*m.asking]
	a.checks.Add(1)
	may := m.FilterPolicy.MayContain(t, filter, key)
	if !may {
		a.avoided.Add(1)
	}
	return may
}

func (m *meter) NewWriter(t pebble.FilterType) pebble.FilterWriter {
	return &meteredWriter{FilterWriter: m.FilterPolicy.NewWriter(t), meter: m}
}

type meteredWriter struct {
	pebble.FilterWriter
	meter *meter
	keys  int64
}

func (w *meteredWriter) AddKey(key []byte) {
	w.keys++
	w.FilterWriter.AddKey(key)
}

func (w *meteredWriter) Finish(dst []byte) []byte {
	before, start := len(dst), time.Now()
	dst = w.FilterWriter.Finish(dst)
	w.meter.add(w.keys, dst[before:], time.Since(start))
	w.keys = 0
	return dst
}

func (m *meter) add(keys int64, filter []byte, elapsed time.Duration) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	b := &m.built
	b.Filters++
	b.Keys += keys
	b.Bytes += int64(len(filter))
	if keys == 0 {
		return
	}
	b.Times = append(b.Times, float64(elapsed.Nanoseconds())/float64(keys))
	if b.Written == nil {
		b.Written = map[string]int64{}
	}
	b.Written[m.writtenAs(filter)] += keys
}

// take returns what was counted since the last call.
func (m *meter) take() (l Level) {
	for a, level := range []*Answers{miss: &l.Absent, hit: &l.Present} {
		*level = Answers{m.answers[a].checks.Swap(0), m.answers[a].avoided.Swap(0)}
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	l.Built, m.built = m.built, Built{}
	return l
}

// writtenAs says what a filter is. Pebble's own do not tell it.
func (m *meter) writtenAs(filter []byte) string {
	if m.encoding.newPolicy == nil {
		return m.encoding.Name
	}
	return kind.Of(filter).String()
}
