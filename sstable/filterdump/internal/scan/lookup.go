package scan

import (
	"bytes"
	"errors"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// An Answer has what a Question asks for.
type Answer struct {
	Next [][]byte // empty where no key follows
	Keys [][]byte // each once
	Tally
}

// A Tally counts what lookups of absent keys meet in a table.
type Tally struct {
	Lookups  int64 // of keys in the table's range
	Filtered int64 // lookups for which a filter was consulted
	// Reads are the data blocks that an engine reads for lookups that no filter excludes.
	Reads int64

	// Probed lookups were followed to their data blocks whatever the filter said: they tell what
	// lookups read without one.
	Probed, ProbedReads int64
	// Simulated lookups consulted a tuned filter of the keys that the filter has, or would have.
	Simulated, SimulatedPassed int64
}

// To follow a lookup to its data block, or to build a tuned filter for it, takes longer than to
// consult a filter: so only one lookup in eight is.
const probeEvery = 8

// tuned makes the filters that are simulated.
var tuned, _ = policy.NewBloom(10, policy.WithTuning())

// MaxKeyBytes is how many bytes of keys an answer has, but for the last key.
const MaxKeyBytes = 128 << 20

// readKeys reads the keys of a table.
func (a *Answer) readKeys(t tables.Table) error {
	if why := t.Info().Unverified; why != "" {
		return errors.New(why)
	}
	enough := errors.New("enough")
	size := 0
	err := t.Keys(func(_ int, key []byte) error {
		if last := len(a.Keys) - 1; last >= 0 && bytes.Equal(a.Keys[last], key) {
			return nil
		}
		a.Keys = append(a.Keys, bytes.Clone(key))
		if size += len(key); size > MaxKeyBytes {
			return enough
		}
		return nil
	})
	if err == enough {
		return nil
	}
	return err
}

// readNext finds the key that follows each of these.
func (a *Answer) readNext(t tables.Table, keys [][]byte) error {
	for _, key := range keys {
		next, _, err := t.Seek(append(key[:len(key):len(key)], 0)) // the first key that can follow
		if err != nil {
			return err
		}
		a.Next = append(a.Next, bytes.Clone(next))
	}
	return nil
}

// lookUpAll looks up absent keys.
func (a *Answer) lookUpAll(t tables.Table, keys [][]byte) error {
	s := simulation{t, map[int][]byte{}}
	// Far from each other, so that no lookup finds its block read by the one before.
	const step = 7919
	for start := range min(step, len(keys)) {
		for i := start; i < len(keys); i += step {
			if err := a.lookUp(&s, keys[i], i%probeEvery == 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookUp looks up an absent key.
func (a *Answer) lookUp(s *simulation, key []byte, probed bool) error {
	a.Lookups++
	may := true
	if f := s.table.Info().Filters; f != nil && f.Reader != nil {
		if filter := s.table.Locate(key); filter >= 0 {
			a.Filtered++
			may = f.Reader.MayContain(f.Each[filter], key)
		}
	}
	if !may && !probed {
		return nil
	}
	_, reads, err := s.table.Seek(key)
	if err != nil {
		return err
	}
	if may {
		a.Reads += int64(reads)
	}
	if !probed {
		return nil
	}
	a.Probed++
	a.ProbedReads += int64(reads)
	filter, err := s.filter(key)
	if err != nil || filter == nil {
		return err
	}
	a.Simulated++
	if policy.MayContain(filter, key) {
		a.SimulatedPassed++
	}
	return nil
}

// A simulation has tuned filters of a table by the index of the filter in whose place they are.
// Each is built once: a window may be large.
type simulation struct {
	table tables.Table
	built map[int][]byte
}

// filter returns the tuned filter that a lookup of key would read, nil if there is none.
func (s *simulation) filter(key []byte) ([]byte, error) {
	window := s.table.Locate(key)
	filter, ok := s.built[window]
	if ok {
		return filter, nil
	}
	b := tuned.NewBuilder()
	if err := s.table.Window(key, b.Add); err != nil {
		return nil, err
	}
	if b.Len() > 0 {
		filter = b.Finish(nil)
	}
	if window >= 0 {
		s.built[window] = filter
	}
	return filter, nil
}
