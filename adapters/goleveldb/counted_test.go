package goleveldb_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// tally is a filter that counts all that another one is asked and makes, from the engine's side.
type tally struct {
	filter.Filter
	policy.Counters
}

func (c *tally) Contains(filter, key []byte) bool {
	answer := c.Filter.Contains(filter, key)
	if answer {
		c.MayContain++
	} else {
		c.ReadsAvoided++
	}
	return answer
}

func (c *tally) NewGenerator() filter.FilterGenerator {
	return &tallyGenerator{c.Filter.NewGenerator(), c}
}

type tallyGenerator struct {
	filter.FilterGenerator
	tally *tally
}

func (g *tallyGenerator) Add(key []byte) {
	g.tally.Keys++
	g.FilterGenerator.Add(key)
}

func (g *tallyGenerator) Generate(b filter.Buffer) {
	g.FilterGenerator.Generate(tallyBuffer{b, g.tally})
	g.tally.Filters++
}

type tallyBuffer struct {
	filter.Buffer
	tally *tally
}

func (b tallyBuffer) Alloc(n int) []byte {
	b.tally.Bytes += uint64(n)
	return b.Buffer.Alloc(n)
}

// A counted policy counts what the engine does, no more and no less.
func TestCounted(t *testing.T) {
	dir := t.TempDir()
	counted := policy.Count(bloom(t, 10))
	o := configured(t, level0Only(), counted)
	require.Zero(t, counted.Snapshot(), "Configure asks nothing that is counted")
	require.NoError(t, goleveldb.Configure(o, counted), "and tries nothing that is counted")
	require.Zero(t, counted.Snapshot())

	engine := &tally{Filter: o.Filter}
	o.Filter = engine
	db := open(t, dir, o)
	content := entries{}
	content.fill(t, db, 30, 3000)
	require.NoError(t, db.Close())
	db = open(t, dir, o) // replays the log: everything is in tables now
	require.NoError(t, db.Close())
	built := counted.Snapshot()
	require.Equal(t, engine.Counters, built)
	require.Zero(t, built.Checks())
	require.Greater(t, built.Filters, uint64(10))
	require.Greater(t, built.Keys, uint64(3000), "each version counts")
	require.Greater(t, built.Bytes, built.Keys*10/8, "10 bits and more per key")

	o.ReadOnly = true
	db = open(t, dir, o)
	require.Zero(t, content.lost(t, db))
	present := counted.Snapshot().Sub(built)
	require.GreaterOrEqual(t, present.MayContain, uint64(len(content)))
	for _, key := range randomKeys(seeded(t, 31), 2000) {
		_, err := db.Get(key, nil)
		require.ErrorIs(t, err, leveldb.ErrNotFound)
	}
	all := counted.Snapshot()
	require.Equal(t, engine.Counters, all)
	absent := all.Sub(built).Sub(present)
	require.Greater(t, absent.ReadsAvoided, absent.Checks()*95/100)
	require.Zero(t, absent.Filters)
	require.NoError(t, db.Close())
}

// Policies of one type under one name, plain and counted, take over from each other.
func TestCountedTakesOver(t *testing.T) {
	dir := t.TempDir()
	content := entries{}
	var o *opt.Options
	for i, p := range []policy.Policy{bloom(t, 10), policy.Count(bloom(t, 16)), bloom(t, 5), policy.Count(policy.Count(bloom(t, 10)))} {
		o = configured(t, o, p)
		require.Len(t, o.AltFilters, 1, "the reader of %s", policy.NameGoLevelDB)
		db := open(t, dir, o)
		content.fillRange(t, db, string(rune('a'+i)), 500)
		require.Zero(t, content.lost(t, db))
		require.NoError(t, db.CompactRange(util.Range{}))
		require.Zero(t, content.lost(t, db))
		require.NoError(t, db.Close())
	}
	// k is floor(0.69 * bits per key): the tables of each setting are still there.
	filters := filtersOnDisk(t, dir)
	for _, k := range []byte{6, 11, 3} {
		require.Positive(t, filters[diskFilter{policy.Name, k, 11}], "%d probes", k)
	}
}
