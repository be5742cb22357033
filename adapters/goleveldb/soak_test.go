package goleveldb_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

var (
	soakTime = flag.Duration("soak", 2*time.Second, "how long TestSoak runs; -short makes the default shorter")
	soakSeed = flag.Int64("seed", 0, "the seed of TestSoak; 0 takes a new one")
)

// Random operations of several goroutines, for as long as -soak says, while the database is closed and opened again with
// other filters, or none. Everything is always as it was written.
//
//	go test -race -run TestSoak ./adapters/goleveldb -soak 10m -timeout 15m
func TestSoak(t *testing.T) {
	duration, seed := *soakTime, *soakSeed
	if testing.Short() && duration == 2*time.Second {
		duration = 500 * time.Millisecond
	}
	if seed == 0 {
		seed = time.Now().UnixNano()
	}
	t.Logf("-seed %d", seed)
	rng := rand.New(rand.NewSource(seed))
	goroutines := runtime.NumGoroutine()

	dir := t.TempDir()
	clients := make([]*soakClient, 4)
	for i := range clients {
		clients[i] = &soakClient{prefix: fmt.Sprintf("%c", 'a'+i), rng: rand.New(rand.NewSource(rng.Int63())), content: entries{}}
	}
	o := smallTables()
	counts := policy.Counters{}
	rounds := 0
	// A quarter of all rounds have no filters of ours.
	for end := time.Now().Add(duration); time.Now().Before(end) || counts.ReadsAvoided == 0 && rounds < 100; rounds++ {
		var counted *policy.Counted
		o, counted = soakOptions(t, rng, o)
		db, err := leveldb.OpenFile(dir, o)
		require.NoError(t, err)
		requireSoaked(t, db, clients)

		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.Intn(400))*time.Millisecond)
		var wg sync.WaitGroup
		failures := make(chan error, len(clients)+1)
		run := func(step func() error) {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for ctx.Err() == nil {
					if err := step(); err != nil {
						failures <- err
						cancel()
					}
				}
			}()
		}
		for _, c := range clients {
			run(func() error { return c.step(db) })
		}
		background := rand.New(rand.NewSource(rng.Int63()))
		run(func() error {
			time.Sleep(time.Duration(background.Intn(50)) * time.Millisecond)
			if background.Intn(3) > 0 {
				return db.CompactRange(util.Range{Start: soakKey(background, "b"), Limit: soakKey(background, "c")})
			}
			err := goleveldb.RewriteInPortions(ctx, db, 20<<10, 2<<10, nil)
			if errors.Is(err, goleveldb.ErrTablesLeft) || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				return nil
			}
			return err
		})
		wg.Wait()
		cancel()
		close(failures)
		require.NoError(t, <-failures)
		for _, c := range clients {
			require.NoError(t, c.releaseSnapshot())
		}
		if rng.Intn(2) == 0 {
			requireSoaked(t, db, clients)
		}
		require.NoError(t, db.Close())
		if counted != nil {
			s := counted.Snapshot()
			counts.ReadsAvoided += s.ReadsAvoided
			counts.MayContain += s.MayContain
			counts.Filters += s.Filters
		}
	}
	db := open(t, dir, configured(t, smallTables(), bloom(t, 10)))
	requireSoaked(t, db, clients)
	require.NoError(t, db.Close())
	t.Logf("%d rounds, %d filters made, %d reads avoided, %d not", rounds, counts.Filters, counts.ReadsAvoided, counts.MayContain)
	require.Positive(t, counts.Filters)
	require.Positive(t, counts.MayContain)
	require.Positive(t, counts.ReadsAvoided)

	// goleveldb's goroutines end a moment after Close.
	left := 0
	for range 100 {
		if left = runtime.NumGoroutine(); left <= goroutines {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	require.LessOrEqual(t, left, goroutines, "goroutines are left:\n%s", stacks[:runtime.Stack(stacks, true)])
}

// soakOptions returns options for the next opening of a database that was opened with former. The policy among them is
// counted, if there is one.
func soakOptions(t testing.TB, rng *rand.Rand, former *opt.Options) (*opt.Options, *policy.Counted) {
	o := smallTables()
	o.Compression = []opt.Compression{opt.NoCompression, opt.SnappyCompression}[rng.Intn(2)]
	if rng.Intn(2) == 0 {
		o.Filter, o.AltFilters = former.Filter, former.AltFilters // as a program does that keeps its options
	}
	switch rng.Intn(8) {
	case 0:
		o.Filter, o.AltFilters = nil, nil
		return o, nil
	case 1:
		o.Filter, o.AltFilters = filter.NewBloomFilter(1+rng.Intn(30)), nil
		return o, nil
	}
	name := policy.WithName([]string{policy.Name, policy.NameGoLevelDB, "mine"}[rng.Intn(3)])
	bitsPerKey := 1 + 29*rng.Float64()
	var opts []goleveldb.Option
	if rng.Intn(2) == 0 {
		opts = append(opts, goleveldb.WithFilterBaseLg(11+rng.Intn(12)))
	}
	var p policy.Policy
	switch rng.Intn(3) {
	case 0:
		p = bloom(t, bitsPerKey, name)
	case 1:
		p = blocked(t, bitsPerKey, name)
	case 2: // what binary fuse filters take, with some hundred keys
		p = fuse(t, []float64{11.6, 18, 26}[rng.Intn(3)], name)
		o.CompactionTableSize = 1 << 20
		opts = append(opts, goleveldb.WithFilterBaseLg(20))
	}
	c := policy.Count(p)
	require.NoError(t, goleveldb.Configure(o, c, opts...))
	return o, c
}

// requireSoaked checks that a database has what the clients wrote, and no more.
func requireSoaked(t testing.TB, db *leveldb.DB, clients []*soakClient) {
	content := entries{}
	for _, c := range clients {
		maps.Copy(content, c.content)
	}
	content.requireContent(t, db)
}

// soakClient does random things with the keys of its prefix, which nobody else writes. So it knows what each of its
// reads has to find.
type soakClient struct {
	prefix  string
	rng     *rand.Rand
	writes  int
	content entries

	snapshot *leveldb.Snapshot // nil, or open
	frozen   entries           // what the snapshot has
}

// soakKey returns one of 400 keys of a prefix, of different lengths.
func soakKey(rng *rand.Rand, prefix string) []byte {
	n := rng.Intn(400)
	return []byte(fmt.Sprintf("%s%0*d", prefix, 3+n%7, n))
}

func (c *soakClient) value() []byte {
	c.writes++
	value := make([]byte, c.rng.Intn(200))
	c.rng.Read(value)
	return append([]byte(fmt.Sprintf("%d ", c.writes)), value...)
}

func (c *soakClient) step(db *leveldb.DB) error {
	switch n := c.rng.Intn(100); {
	case n < 25:
		key, value := soakKey(c.rng, c.prefix), c.value()
		c.content[string(key)] = string(value)
		return db.Put(key, value, nil)
	case n < 35:
		key := soakKey(c.rng, c.prefix)
		delete(c.content, string(key))
		return db.Delete(key, nil)
	case n < 40:
		batch := new(leveldb.Batch)
		for range c.rng.Intn(20) {
			c.change(batch)
		}
		return db.Write(batch, nil)
	case n < 41:
		return c.transaction(db)
	case n < 95:
		return c.get(db.Get, c.content)
	case n < 97:
		return c.iterate(db.NewIterator, c.content)
	case c.snapshot == nil:
		c.frozen = maps.Clone(c.content)
		var err error
		c.snapshot, err = db.GetSnapshot()
		return err
	case n < 99:
		return c.iterate(c.snapshot.NewIterator, c.frozen)
	default:
		if err := c.get(c.snapshot.Get, c.frozen); err != nil {
			return err
		}
		return c.releaseSnapshot()
	}
}

// change adds one random change to a batch, and to what is to be expected.
func (c *soakClient) change(batch *leveldb.Batch) {
	key := soakKey(c.rng, c.prefix)
	if c.rng.Intn(3) == 0 {
		batch.Delete(key)
		delete(c.content, string(key))
		return
	}
	value := c.value()
	batch.Put(key, value)
	c.content[string(key)] = string(value)
}

// transaction changes keys in a transaction, reads them there, and commits or discards.
func (c *soakClient) transaction(db *leveldb.DB) error {
	tr, err := db.OpenTransaction()
	if err != nil {
		return err
	}
	defer tr.Discard() // does nothing after Commit
	before := maps.Clone(c.content)
	batch := new(leveldb.Batch)
	for range c.rng.Intn(30) {
		c.change(batch)
	}
	if err := tr.Write(batch, nil); err != nil {
		return err
	}
	for range 10 {
		if err := c.get(tr.Get, c.content); err != nil {
			return err
		}
	}
	if err := c.iterate(tr.NewIterator, c.content); err != nil {
		return err
	}
	if c.rng.Intn(3) == 0 {
		c.content = before
		return nil
	}
	return tr.Commit()
}

// get looks up a key, which is there or not, and compares.
func (c *soakClient) get(get func([]byte, *opt.ReadOptions) ([]byte, error), content entries) error {
	key := soakKey(c.rng, c.prefix)
	want, present := content[string(key)]
	got, err := get(key, nil)
	if err == leveldb.ErrNotFound && !present {
		return nil
	}
	if err != nil || !present || string(got) != want {
		return fmt.Errorf("key %q: got %q, %v; want %q, %v", key, got, err, want, present)
	}
	return nil
}

// iterate goes through all keys of the client, and compares.
func (c *soakClient) iterate(iterate func(*util.Range, *opt.ReadOptions) iterator.Iterator, content entries) error {
	it := iterate(util.BytesPrefix([]byte(c.prefix)), nil)
	defer it.Release()
	n := 0
	for ; it.Next(); n++ {
		if want, present := content[string(it.Key())]; !present || string(it.Value()) != want {
			return fmt.Errorf("iterator at key %q: got %q; want %q, %v", it.Key(), it.Value(), want, present)
		}
	}
	if err := it.Error(); err != nil {
		return err
	}
	if n != len(content) {
		return fmt.Errorf("the iterator found %d keys of %q, want %d", n, c.prefix, len(content))
	}
	return nil
}

// releaseSnapshot releases the snapshot, if there is one, after a last look.
func (c *soakClient) releaseSnapshot() error {
	if c.snapshot == nil {
		return nil
	}
	err := c.iterate(c.snapshot.NewIterator, c.frozen)
	c.snapshot.Release()
	c.snapshot = nil
	return err
}
