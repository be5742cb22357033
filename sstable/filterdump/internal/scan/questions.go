package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// Questions are keys about which a table is asked. They are user keys in ascending order.
type Questions struct {
	Next   [][]byte // which key follows each?
	Absent [][]byte // what do the filters say of each, and what does an engine read?

	// Keys asks for the table's own keys, without those that come first: a number of entries. If it
	// is set, nothing else is answered.
	Keys  bool
	After int
}

// Answers are those to Questions.
type Answers struct {
	Next [][]byte // nil where no key follows
	Tally
	Keys    [][]byte // some, each once
	Entries int      // that have these keys; 0 if there are no more

	tuned map[int][]byte // tuned filters by the filter in whose place they are: a window may be large
}

// A Tally counts what lookups of absent keys meet in tables.
type Tally struct {
	Lookups  int64 // of keys in the tables' ranges
	Filtered int64 // of these, those for which a filter was consulted
	Passed   int64 // of these, those that it let pass
	// Reads are the data blocks that an engine reads for lookups that no filter has ended.
	Reads int64

	// Probed lookups were followed to their data blocks whatever the filter said: they tell what
	// lookups read without one.
	Probed, ProbedReads int64
	// Simulated lookups consulted a tuned filter of the keys that the filter has, or would have.
	Simulated, SimulatedPassed int64
}

// Add adds the counts of another tally.
func (t *Tally) Add(o Tally) {
	t.Lookups += o.Lookups
	t.Filtered += o.Filtered
	t.Passed += o.Passed
	t.Reads += o.Reads
	t.Probed += o.Probed
	t.ProbedReads += o.ProbedReads
	t.Simulated += o.Simulated
	t.SimulatedPassed += o.SimulatedPassed
}

// To follow a lookup to its data block, or to build a tuned filter for it, takes longer than to
// consult a filter: so only one lookup of some is.
const probeEvery = 8

// tuned are the filters that are simulated: policy.WithTuning with the parameter that its comment
// recommends.
var tuned, _ = policy.NewBloom(10, policy.WithTuning(0.05))

// answer asks a table in this process.
func answer(ctx context.Context, q request) (*Answers, error) {
	t, err := tables.Open(ctx, q.Path, q.Settings.Bloom...)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	a := &Answers{}
	if q.Ask.Keys {
		return a, a.readKeys(t, q)
	}
	for _, key := range q.Ask.Next {
		next, _, err := t.Seek(append(key[:len(key):len(key)], 0)) // the first key that can follow
		if err != nil {
			return nil, err
		}
		a.Next = append(a.Next, next)
	}
	// Far from each other, so that no lookup finds its block read by the one before.
	const step = 7919
	n := len(q.Ask.Absent)
	for start := range min(step, n) {
		for i := start; i < n; i += step {
			if err := a.lookUp(t, q.Ask.Absent[i], i); err != nil {
				return nil, err
			}
		}
	}
	return a, nil
}

// lookUp looks up absent key i.
func (a *Answers) lookUp(t tables.Table, key []byte, i int) error {
	a.Lookups++
	may := true
	f := t.Info().Filters
	if f != nil {
		if filter := t.Locate(key); filter >= 0 && f.Reader != nil {
			a.Filtered++
			if may = f.Reader.MayContain(f.Each[filter], key); may {
				a.Passed++
			}
		}
	}
	if probed := i%probeEvery == 0; may || probed {
		_, reads, err := t.Seek(key)
		if err != nil {
			return err
		}
		if may {
			a.Reads += int64(reads)
		}
		if probed {
			a.Probed++
			a.ProbedReads += int64(reads)
			return a.simulate(t, key)
		}
	}
	return nil
}

// simulate consults a tuned filter of the keys among which the absent key lies.
func (a *Answers) simulate(t tables.Table, key []byte) error {
	window := t.Locate(key)
	filter, built := a.tuned[window]
	if !built {
		keys, err := t.Window(key)
		if err != nil {
			return err
		}
		if len(keys) > 0 {
			filter = tuned.AppendFilter(nil, keys)
		}
		if window >= 0 {
			if a.tuned == nil {
				a.tuned = map[int][]byte{}
			}
			a.tuned[window] = filter
		}
	}
	if filter != nil {
		a.Simulated++
		if policy.MayContain(filter, key) {
			a.SimulatedPassed++
		}
	}
	return nil
}

// maxKeyBytes is how many bytes of keys an answer has, but for the last of them.
const maxKeyBytes = 16 << 20

// readKeys reads keys after a number of entries.
func (a *Answers) readKeys(t tables.Table, q request) error {
	if why := t.Info().Unverified; why != "" {
		return fmt.Errorf("%s: %s", q.Path, why)
	}
	enough := errors.New("enough")
	n, size := 0, 0
	err := t.Keys(func(_ int, key []byte) error {
		if n++; n <= q.Ask.After {
			return nil
		}
		a.Entries++
		if last := len(a.Keys) - 1; last < 0 || !bytes.Equal(a.Keys[last], key) {
			a.Keys = append(a.Keys, bytes.Clone(key))
			size += len(key)
		}
		if size > maxKeyBytes {
			return enough
		}
		return nil
	})
	if err == enough {
		return nil
	}
	return err
}

// Keys calls f for the keys of a table. An error of f ends the iteration and is returned as it is.
// Other errors are those of reading the table.
func (r *Reader) Keys(ctx context.Context, path string, f func(key []byte) error) error {
	for after := 0; ; {
		a, err := r.Ask(ctx, path, &Questions{Keys: true, After: after})
		if err != nil {
			return err
		}
		for _, key := range a.Keys {
			if err := f(key); err != nil {
				return err
			}
		}
		if a.Entries == 0 {
			return nil
		}
		after += a.Entries
	}
}
