package goleveldb_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// backwardsPolicy has an encoding of its own: the keys are read backwards.
type backwardsPolicy struct{ policy.Policy }

func (p backwardsPolicy) NewBuilder() policy.Builder { return backwardsBuilder{p.Policy.NewBuilder()} }

func (p backwardsPolicy) MayContain(filter, key []byte) bool {
	return p.Policy.MayContain(filter, backwards(key))
}

type backwardsBuilder struct{ policy.Builder }

func (b backwardsBuilder) Add(key []byte) { b.Builder.Add(backwards(key)) }

// Of two policies under one name, one would lose keys in the filters of the other.
func TestConfigureRefusesTwoEncodingsOfOneName(t *testing.T) {
	named := func(name string) (forwards, backwards policy.Policy) {
		p := bloom(t, 10, policy.WithName(name))
		return p, backwardsPolicy{p}
	}
	const message = "give one of them another name, such as policy.WithName does"
	for _, name := range []string{policy.Name, policy.NameGoLevelDB, "mine"} {
		forwards, backwards := named(name)
		for _, wrapped := range []func(policy.Policy) policy.Policy{
			func(p policy.Policy) policy.Policy { return p },
			func(p policy.Policy) policy.Policy { return policy.Count(p) },
			func(p policy.Policy) policy.Policy { return &spy{Policy: policy.Count(p)} },
		} {
			for _, c := range []struct{ former, p policy.Policy }{{forwards, backwards}, {backwards, forwards}} {
				o := &opt.Options{Filter: goleveldb.New(wrapped(c.former))}
				before := *o
				err := goleveldb.Configure(o, wrapped(c.p))
				require.ErrorContains(t, err, message)
				require.ErrorContains(t, err, fmt.Sprintf("have the name %q", name))
				require.Equal(t, before, *o)

				o = &opt.Options{AltFilters: []filter.Filter{foreign("a"), goleveldb.New(wrapped(c.former))}}
				require.ErrorContains(t, goleveldb.Configure(o, wrapped(c.p)), message)
			}
		}
		// The names of LevelDB's encoding belong to it, whether or not the options have a filter of that name.
		err := goleveldb.Configure(&opt.Options{}, backwards)
		if name == "mine" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, message)
		}
	}
	_, backwards := named(policy.NameGoLevelDB)
	require.ErrorContains(t, goleveldb.Configure(&opt.Options{Filter: filter.NewBloomFilter(10)}, backwards), message)

	// With a name of its own the other encoding takes over, and neither loses a key.
	dir := t.TempDir()
	content := entries{}
	db := open(t, dir, configured(t, smallTables(), bloom(t, 10)))
	content.fill(t, db, 40, 1000)
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())
	o := smallTables()
	_, mine := named("mine")
	require.NoError(t, goleveldb.Configure(o, mine))
	db = open(t, dir, o)
	content.fill(t, db, 41, 1000)
	require.Zero(t, content.lost(t, db))
	rewrite(t, db)
	require.Zero(t, content.lost(t, db))
	require.NoError(t, db.Close())
}

// gullible reads every filter, also those of others, as one that may contain the key; its own ones only it can read.
type gullible struct{ backwardsPolicy }

func (gullible) MayContain(_, _ []byte) bool { return true }

// One direction is enough to refuse: whichever came first, one of the two loses keys in the filters of the other.
func TestConfigureTriesBothDirections(t *testing.T) {
	p := bloom(t, 10, policy.WithName("mine"))
	g := gullible{backwardsPolicy{p}}
	for _, c := range []struct{ former, p policy.Policy }{{p, g}, {g, p}} {
		err := goleveldb.Configure(&opt.Options{Filter: goleveldb.New(c.former)}, c.p)
		require.ErrorContains(t, err, "loses keys", "%T after %T", c.p, c.former)
	}
}

func TestConfigureRefusesNilsOfItsOwnTypes(t *testing.T) {
	var none *policy.Counted
	for _, p := range []policy.Policy{nil, none, (*policy.Bloom)(nil), (*spy)(nil)} {
		require.ErrorContains(t, goleveldb.Configure(&opt.Options{}, p), "policy.NewBloom(10)", "%T", p)
		require.Panics(t, func() { goleveldb.New(p) })
	}
}

// An option that fails leaves the options as they were, also if another one came before it.
func TestConfigureWithOptionThatFails(t *testing.T) {
	fault := errors.New("fault")
	o := &opt.Options{}
	require.ErrorIs(t, goleveldb.Configure(o, bloom(t, 10), goleveldb.WithFilterBaseLg(13), func(*opt.Options) error { return fault }), fault)
	require.Equal(t, &opt.Options{}, o)
}

// Configure twice: the first policy stays as a reader if the second has another name, and gives way if it has the same.
func TestConfigureTwice(t *testing.T) {
	dir := t.TempDir()
	content := entries{}
	first, second, third := policy.Count(bloom(t, 10)), policy.Count(bloom(t, 10, policy.WithName("mine"))), policy.Count(bloom(t, 16))

	o := configured(t, nil, first)
	db := open(t, dir, o)
	content.fillRange(t, db, "a", 500)
	require.NoError(t, db.Close())

	o = configured(t, o, second)
	db = open(t, dir, o)
	content.fillRange(t, db, "b", 500)
	require.Zero(t, content.lost(t, db))
	require.EqualValues(t, 500, first.Snapshot().Checks())
	require.EqualValues(t, 500, second.Snapshot().Checks())
	require.NoError(t, db.Close())

	o = configured(t, o, third)
	require.Len(t, o.AltFilters, 2)
	db = open(t, dir, o)
	require.Zero(t, content.lost(t, db))
	require.EqualValues(t, 500, first.Snapshot().Checks(), "replaced")
	require.EqualValues(t, 1000, second.Snapshot().Checks())
	require.EqualValues(t, 500, third.Snapshot().Checks())
	require.NoError(t, db.Close())
}

// The options of an open database may be configured anew, at any time: the database goes on with what it was opened with.
// The race detector watches.
func TestConfigureOptionsInUse(t *testing.T) {
	dir := t.TempDir()
	content := entries{}
	db := open(t, dir, &opt.Options{Filter: filter.NewBloomFilter(10)})
	content.fillRange(t, db, "old", 500)
	require.NoError(t, db.Close())

	p := bloom(t, 10)
	o := configured(t, smallTables(), p)
	o.AltFilters = append(o.AltFilters, foreign("a"))[:len(o.AltFilters)] // with spare capacity
	db = open(t, dir, o)
	content.fillRange(t, db, "recent", 500)

	var wg sync.WaitGroup
	var stop atomic.Bool
	lost := make(chan int, 1)
	wg.Add(1)
	go func() {
		defer wg.Done()
		n := 0
		for !stop.Load() {
			for key := range content {
				if has, err := db.Has([]byte(key), nil); err != nil || !has {
					n++
				}
			}
			if err := db.CompactRange(util.Range{}); err != nil {
				n++
			}
		}
		lost <- n
	}()
	for i := range 300 {
		name := []string{policy.Name, policy.NameGoLevelDB, "mine", "another"}[i%4]
		require.NoError(t, goleveldb.Configure(o, bloom(t, float64(i%20+1), policy.WithName(name)), goleveldb.WithFilterBaseLg(11+i%10)))
	}
	stop.Store(true)
	wg.Wait()
	require.Zero(t, <-lost)
	rewrite(t, db)
	require.NoError(t, db.Close())
	require.NoError(t, open(t, dir, configured(t, smallTables(), p)).Close())
	require.Len(t, filtersOnDisk(t, dir), 1)
	require.Positive(t, filtersOnDisk(t, dir)[diskFilter{policy.Name, 6, 11}])
}

// restless is a policy whose name is "mine" when it is asked for the first time, and "another" from then on.
type restless struct {
	policy.Policy
	asked atomic.Bool
}

func (r *restless) Name() string {
	if r.asked.Swap(true) {
		return "another"
	}
	return "mine"
}

// The name that counts is the one at Configure. A policy that comes back under another name does not find its filters,
// but every key.
func TestPolicyWhoseNameChanges(t *testing.T) {
	dir := t.TempDir()
	content := entries{}
	counted := policy.Count(bloom(t, 10))
	p := &restless{Policy: counted}
	o := configured(t, smallTables(), p)
	db := open(t, dir, o)
	content.fill(t, db, 42, 2000)
	require.NoError(t, db.CompactRange(util.Range{}))
	require.Zero(t, content.lost(t, db))
	require.EqualValues(t, len(content), counted.Snapshot().Checks())
	require.NoError(t, db.Close())
	filters := filtersOnDisk(t, dir)
	require.Equal(t, map[diskFilter]int{{"mine", 6, 11}: filters[diskFilter{"mine", 6, 11}]}, filters)

	db = openReadOnly(t, dir, p)
	before := counted.Snapshot()
	require.Zero(t, content.lost(t, db))
	require.Zero(t, counted.Snapshot().Sub(before).Checks())
	require.NoError(t, db.Close())
}
