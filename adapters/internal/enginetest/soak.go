package enginetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

var (
	soakTime = flag.Duration("soak", 2*time.Minute, "how long TestSoak runs, with -large")
	none     = flag.Bool("none", false, "soak without any filter, which shows the engine's own faults")
)

// Soak runs in a test named TestSoak, and in its child processes. A child writes, deletes and looks
// up keys from several goroutines, while another flushes, compacts and rewrites the database, and
// opens it again and again with other filters. Most children are killed in the midst of that, some
// while they open it. The next one requires all that was acknowledged. open returns the engine of
// the database in a directory, which is written to in so many of its ways.
//
//	go test -race -run TestSoak ./adapters/pebblev2 -large -soak 10m -timeout 15m
func Soak(t *testing.T, ways int, open func(t testing.TB, dir string) Engine) {
	var o order
	if dir := os.Getenv("LEVELBLOOM_SOAKED"); dir != "" {
		require.NoError(t, json.NewDecoder(os.Stdin).Decode(&o))
		o.obey(t, open(t, dir), ways)
		return
	}
	testkit.Large(t)
	rng, dir := testkit.Rand(t, Seed()), ""
	for n, end := 0, time.Now().Add(*soakTime); n%8 > 0 || time.Now().Before(end); n++ {
		if n%8 == 0 { // another database
			o = order{Variant: n / 8, Keys: [3]model{{}, {}, {}}}
			dir = filepath.Join(t.TempDir(), "db")
		}
		if len(o.Keys[0])+len(o.Keys[1])+len(o.Keys[2]) == 0 {
			require.NoError(t, os.RemoveAll(dir)) // goleveldb cannot open what it was creating
		}
		o.Seed, o.Kill = rng.Int63(), n%4 < 3
		o.run(t, dir, time.Duration(rng.Intn([]int{20, 300, 1000, 1}[n%4]))*time.Millisecond)
	}
}

// An order says what a child does, on its standard input.
type order struct {
	Variant int // one of the engine's, modulo their number
	Seed    int64
	Kill    bool     // if not, the child ends by itself
	Keys    [3]model // what was acknowledged to each worker
	Begun   [3]model // a change of which the database has all or nothing
}

// A model has the versions of a worker's keys by number; 0 is a deleted key.
type model map[int]uint64

// A note is a line of a child: a change that a worker begins, or none when it is acknowledged.
type note struct {
	Worker int
	Change model
}

// run starts a child, may kill it so long after its first note, and keeps what it noted.
func (o *order) run(t *testing.T, dir string, after time.Duration) {
	c := exec.Command(testkit.Must(os.Executable()), "-test.run=^TestSoak$", "-test.paniconexit0",
		fmt.Sprintf("-none=%v", *none))
	c.Env = append(os.Environ(), "LEVELBLOOM_SOAKED="+dir)
	c.Stdin = bytes.NewReader(testkit.Must(json.Marshal(o)))
	out := testkit.Must(c.StdoutPipe()) // when this process ends, its next note ends the child
	c.Stderr = c.Stdout
	require.NoError(t, c.Start())
	notes := json.NewDecoder(out)
	if _ = notes.Decode(&note{}); o.Kill { // it begins
		time.AfterFunc(after, func() { _ = c.Process.Kill() })
	}
	for n := (note{}); notes.Decode(&n) == nil; n = (note{}) {
		if n.Change == nil {
			maps.Copy(o.Keys[n.Worker], o.Begun[n.Worker])
		}
		o.Begun[n.Worker] = n.Change
	}
	rest, _ := io.ReadAll(io.MultiReader(notes.Buffered(), out))
	_ = c.Wait()
	require.Equal(t, map[bool]int{true: -1}[o.Kill], c.ProcessState.ExitCode(), "%s", rest)
}

// obey is what a child does.
func (o *order) obey(t *testing.T, e Engine, ways int) {
	notes, rng := json.NewEncoder(os.Stdout), rand.New(rand.NewSource(o.Seed))
	_ = notes.Encode(note{})
	for n := 0; n < 3 || o.Kill; n++ {
		s := Setting{Variant: o.Variant % len(e.Variants()), Large: rng.Intn(2) == 0}
		for p := rng.Intn(4); p > 0 && !*none; p-- {
			s.Policies = append(s.Policies, randomPolicy(rng))
		}
		s.Builtin = rng.Intn(3) == 0 && !*none
		db, err := e.Open(s)
		require.NoError(t, err)
		moves := []func() error{db.Flush, db.Flush, db.Flush, db.Compact,
			func() error { return db.Rewrite(context.Background()) },
			func() error { return db.Reconfigure(randomPolicy(rng)) }, // of no effect
		}
		end := time.Now().Add(time.Duration(rng.Intn(300)) * time.Millisecond)
		done := make(chan error)
		for id, keys := range o.Keys {
			w := worker{id, keys, e.Variants()[s.Variant].Prefix}
			changed := worker{id, maps.Clone(keys), w.prefix}
			maps.Copy(changed.keys, o.Begun[id])
			if o.Begun[id] != nil && changed.check(db) == nil {
				w.keys, o.Keys[id] = changed.keys, changed.keys
				_ = notes.Encode(note{Worker: id})
			}
			o.Begun[id] = nil
			rng := rand.New(rand.NewSource(rng.Int63()))
			go func() {
				err := w.check(db)
				for err == nil && time.Now().Before(end) {
					err = w.act(rng, db, ways)
				}
				done <- errors.Join(err, w.check(db))
			}()
		}
		for time.Now().Before(end) {
			require.NoError(t, moves[rng.Intn(len(moves))]())
		}
		for range o.Keys {
			require.NoError(t, <-done)
		}
		require.NoError(t, db.Close())
	}
}

func randomPolicy(rng *rand.Rand) *policy.Policy {
	return Kinds[rng.Intn(len(Kinds))].MustNew(2+20*rng.Float64(), names[rng.Intn(len(names))])
}

// A worker uses keys of its own, so it knows what they have.
type worker struct {
	id     int
	keys   model
	prefix func(key []byte) []byte
}

const workerKeys = 600

// key returns key i of workerKeys. They ascend, and every four share their first 8 bytes.
func (w *worker) key(i int) []byte {
	prefix := binary.BigEndian.AppendUint64(nil, uint64(w.id)<<40+uint64(i/4))
	return append(prefix, make([]byte, i%4)...)
}

// version returns what is written in one.
func version(n uint64) []byte { return value(binary.BigEndian.AppendUint64(nil, n)) }

// entries returns what the database has of the keys from start to before end.
func (w *worker) entries(start, end int) (all []Entry) {
	for i := start; i < end; i++ {
		if w.keys[i] > 0 {
			all = append(all, Entry{string(w.key(i)), string(version(w.keys[i]))})
		}
	}
	return all
}

// act does one thing, mostly a lookup: these meet what the others do.
func (w *worker) act(rng *rand.Rand, db DB, ways int) error {
	i, change := rng.Intn(workerKeys), model{}
	var do func() error
	switch n := rng.Intn(200); {
	case n > 20:
		return w.look(db, i)
	case n == 20:
		end := i + rng.Intn(workerKeys-i)
		for j := i; j < end; j++ {
			change[j] = 0
		}
		do = func() error { return db.DeleteRange(w.key(i), w.key(end)) }
	default:
		var changes []Change
		for ; i < workerKeys; i += 1 + rng.Intn(50) {
			changes = append(changes, Change{Key: w.key(i)})
			if change[i] = 0; rng.Intn(4) > 0 {
				change[i] = rng.Uint64()
				changes[len(changes)-1].Value = version(change[i])
			}
		}
		do = func() error { return db.Apply(rng.Intn(ways), changes) }
	}
	notes := json.NewEncoder(os.Stdout)
	err := errors.Join(notes.Encode(note{w.id, change}), do())
	if err == nil {
		maps.Copy(w.keys, change)
		err = notes.Encode(note{Worker: w.id})
	}
	return err
}

// look looks key i up, and what follows under its prefix.
func (w *worker) look(r Reader, i int) error {
	key, value := w.key(i), ""
	want := slices.DeleteFunc(w.entries(i, i/4*4+4), func(e Entry) bool {
		return !bytes.Equal(w.prefix(key), w.prefix([]byte(e.Key)))
	})
	if w.keys[i] > 0 {
		value = want[0].Value
	}
	got, err := r.Get(key)
	found, err2 := r.Find(key)
	sought, err3 := r.Seek(key)
	err = errors.Join(err, err2, err3)
	if err == nil &&
		(string(got) != value || string(found) != value || !slices.Equal(sought, want)) {
		err = fmt.Errorf("key %x: Get %.11x, Find %.11x, Seek %.11x instead of %.11x",
			key, got, found, sought, want)
	}
	return err
}

// check scans for the keys that are there, and looks all up.
func (w *worker) check(r Reader) error {
	got, err := r.Scan(w.key(0), w.key(workerKeys))
	if want := w.entries(0, workerKeys); err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("a scan finds %.11x instead of %.11x", got, want)
	}
	for i := 0; i < workerKeys && err == nil; i++ {
		err = w.look(r, i)
	}
	return err
}
