package goleveldb_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
)

func bloom(t testing.TB, bitsPerKey float64, opts ...policy.Option) *policy.Policy {
	p, err := policy.NewBloom(bitsPerKey, opts...)
	require.NoError(t, err)
	return p
}

func ribbon(t testing.TB) *policy.Policy {
	p, err := policy.NewRibbon(10)
	require.NoError(t, err)
	return p
}

// configured returns o, or new options if it is nil, with p as policy.
func configured(t testing.TB, o *opt.Options, p *policy.Policy) *opt.Options {
	if o == nil {
		o = &opt.Options{}
	}
	require.NoError(t, goleveldb.Configure(o, p))
	return o
}

// watch makes w note what all filters of o answer.
func watch(o *opt.Options, w *enginetest.Watch) {
	if o.Filter != nil {
		o.Filter = watched{o.Filter, w}
	}
	for i, f := range o.AltFilters {
		o.AltFilters[i] = watched{f, w}
	}
}

// smallTables makes a small database have many tables, and blocks that share a filter.
func smallTables() *opt.Options {
	return &opt.Options{
		NoSync:                        true, // no test needs it, and a sync may take long
		BlockSize:                     1 << 10,
		WriteBuffer:                   32 << 10,
		CompactionTableSize:           16 << 10,
		CompactionTotalSize:           32 << 10,
		CompactionTotalSizeMultiplier: 4,
	}
}

// level0Only keeps every table where a flush puts it.
func level0Only() *opt.Options {
	o := smallTables()
	o.CompactionL0Trigger, o.WriteL0SlowdownTrigger, o.WriteL0PauseTrigger = 1<<20, 1<<20, 1<<20
	o.DisableSeeksCompaction = true
	return o
}

func open(t testing.TB, dir string, o *opt.Options) *leveldb.DB {
	db, err := leveldb.OpenFile(dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() }) // for tests that fail; the others close it themselves
	return db
}
