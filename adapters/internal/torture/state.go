package torture

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
)

// state is what a database must contain. Its file survives the process: a change is written there
// before the database hears of it, and its end when the database has acknowledged it.
type state struct {
	model
	file    *os.File       // nil if nothing has to survive
	pending map[int]uint64 // the change that was not acknowledged: versions of keys, 0 if deleted
	version uint64         // the highest so far
	ways    int            // as in Target
}

// record is a line of the file: a change, or what became of the one before.
type record struct {
	Change map[int]uint64 `json:",omitempty"`
	End    end            `json:",omitempty"`
}

type end string

const (
	kept    end = "kept"
	dropped end = "dropped" // found missing when the database was opened again
)

// newState returns the state of an empty database, for the keys that begin with id.
func newState(id byte, v enginetest.Variant) *state {
	return &state{model: model{id, v.Prefix, map[string]uint64{}}}
}

// readState reads the file, and continues it.
func readState(t testing.TB, path string, v enginetest.Variant) *state {
	s := newState('k', v)
	content, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	end := bytes.LastIndexByte(content, '\n') + 1 // after it the process was killed
	for _, line := range bytes.Split(content[:end], []byte("\n")) {
		if len(line) > 0 {
			var r record
			require.NoError(t, json.Unmarshal(line, &r))
			s.apply(r)
		}
	}
	s.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	require.NoError(t, s.file.Truncate(int64(end)))
	_, err = s.file.Seek(int64(end), 0)
	require.NoError(t, err)
	return s
}

func (s *state) apply(r record) {
	if r.Change != nil {
		s.pending = r.Change
		for _, version := range r.Change {
			s.version = max(s.version, version)
		}
	}
	if r.End == kept {
		s.keep()
	}
	if r.End != "" {
		s.pending = nil
	}
}

// keep puts the pending change into the model.
func (s *state) keep() {
	for i, version := range s.pending {
		if version == 0 {
			delete(s.keys, string(s.key(i)))
		} else {
			s.keys[string(s.key(i))] = version
		}
	}
}

// write applies r and appends it to the file.
func (s *state) write(r record) {
	if s.file != nil {
		line, err := json.Marshal(r)
		if err == nil {
			_, err = s.file.Write(append(line, '\n'))
		}
		if err != nil {
			panic(err)
		}
	}
	s.apply(r)
}

// open opens the database and requires that it has what was acknowledged, no more, and of the
// pending change all or nothing.
func (s *state) open(t testing.TB, e enginetest.Engine, set enginetest.Setting) enginetest.DB {
	db, err := e.Open(set)
	require.NoError(t, err)
	err = s.check(db)
	if s.pending != nil {
		end := dropped
		if errors.Is(err, enginetest.ErrWrong) {
			end = kept
		}
		s.write(record{End: end})
		if end == kept {
			without := err
			err = s.check(db)
			require.NoError(t, err, "without the change that was not acknowledged: %v", without)
		}
	}
	require.NoError(t, err)
	return db
}

// act draws one thing to do with the database, and does it.
func (s *state) act(rng *rand.Rand, db enginetest.DB) error {
	switch key, n := s.key(rng.Intn(modelKeys)), rng.Intn(40); {
	case n < 8:
		return s.get(db, key)
	case n < 16:
		return s.seek(db, key)
	case n == 16:
		return s.change(s.drawRange(rng, db))
	case n < 24:
		return s.change(s.drawBatch(rng, db, 1))
	default:
		return s.change(s.drawBatch(rng, db, 1+rng.Intn(50)))
	}
}

// drawBatch draws a change that sets and deletes up to n keys. do makes it.
func (s *state) drawBatch(
	rng *rand.Rand, db enginetest.DB, n int,
) (change map[int]uint64, do func() error) {
	change = map[int]uint64{}
	version := s.version
	var changes []enginetest.Change
	for range n {
		i := rng.Intn(modelKeys)
		if _, again := change[i]; again {
			continue
		}
		c := enginetest.Change{Key: s.key(i)}
		change[i] = 0
		if rng.Intn(4) > 0 {
			version++
			change[i], c.Value = version, value(version)
		}
		changes = append(changes, c)
	}
	slices.SortFunc(changes, func(a, b enginetest.Change) int {
		return bytes.Compare(a.Key, b.Key)
	})
	way := rng.Intn(db.Ways())
	if s.ways > 0 {
		way %= s.ways
	}
	return change, func() error { return db.Apply(way, changes) }
}

// drawRange draws a deletion of a range. do makes it.
func (s *state) drawRange(rng *rand.Rand, db enginetest.DB) (change map[int]uint64, do func() error) {
	start, end := s.key(rng.Intn(modelKeys)), s.key(rng.Intn(modelKeys))
	if bytes.Compare(start, end) > 0 {
		start, end = end, start
	}
	change = map[int]uint64{}
	for i := range modelKeys {
		if k := s.key(i); bytes.Compare(start, k) <= 0 && bytes.Compare(k, end) < 0 {
			change[i] = 0
		}
	}
	return change, func() error { return db.DeleteRange(start, end) }
}

// change makes a change by calling do.
func (s *state) change(change map[int]uint64, do func() error) error {
	s.write(record{Change: change})
	err := do()
	if err == nil {
		s.write(record{End: kept})
	}
	return err
}
