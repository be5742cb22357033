package goleveldb_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"

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

func (b tallyBuffer) Write(p []byte) (int, error) {
	b.tally.Bytes += uint64(len(p))
	return b.Buffer.Write(p)
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
	for _, key := range absentKeys(t, 31, 2000) {
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
