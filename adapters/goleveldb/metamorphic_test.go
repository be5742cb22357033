package goleveldb_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// The same random operations give the same answers under every filter, and without any.
func TestFiltersChangeNoAnswer(t *testing.T) {
	steps := 6_000
	if testing.Short() {
		steps = 2_000
	}
	plain := func(*testing.T, int) *opt.Options { return smallTables() }
	builtin := func(*testing.T, int) *opt.Options {
		o := smallTables()
		o.Filter = filter.NewBloomFilter(10)
		return o
	}
	ours := func(t *testing.T, p policy.Policy, opts ...goleveldb.Option) *opt.Options {
		o := smallTables()
		require.NoError(t, goleveldb.Configure(o, p, opts...))
		return o
	}
	// Tables, and windows, of as many keys as binary fuse filters take.
	large := func(o *opt.Options) *opt.Options {
		o.CompactionTableSize, o.FilterBaseLg = 64<<10, 21
		return o
	}
	under := policy.WithName(policy.NameGoLevelDB)
	for seed := range int64(2) {
		want, _ := operate(t, seed, steps, plain)
		for _, c := range []struct {
			name    string
			options func(t *testing.T, opening int) *opt.Options
			kinds   []byte // of the filters that are asked, by their last byte
		}{
			{"goleveldb's own", builtin, []byte{6}},
			{"exact", func(t *testing.T, _ int) *opt.Options { return ours(t, bloom(t, 10)) }, []byte{6}},
			{"blocked", func(t *testing.T, _ int) *opt.Options { return ours(t, blocked(t, 10)) }, []byte{blockedEncoding}},
			{"blocked, one filter for a table", func(t *testing.T, _ int) *opt.Options {
				return ours(t, blocked(t, 16, under), goleveldb.WithFilterBaseLg(21))
			}, []byte{blockedEncoding}},
			{"binary fuse, for few keys blocked", func(t *testing.T, _ int) *opt.Options {
				return large(ours(t, fuse(t, 26)))
			}, []byte{blockedEncoding, fuseEncoding}},
			{"binary fuse of 8 and of 12 bits", func(t *testing.T, opening int) *opt.Options {
				return large(ours(t, fuse(t, []float64{11.6, 18}[opening%2])))
			}, []byte{blockedEncoding, fuseEncoding}},
			{"all in turn, under one name", func(t *testing.T, opening int) *opt.Options {
				switch opening % 4 {
				case 0:
					return builtin(t, opening)
				case 1:
					return ours(t, blocked(t, 5, under))
				case 2:
					return large(ours(t, fuse(t, 26, under)))
				default:
					return ours(t, bloom(t, 16, under))
				}
			}, []byte{6, blockedEncoding, fuseEncoding, 11}},
			{"all of ours in one table", func(t *testing.T, _ int) *opt.Options {
				o := ours(t, inTurn{fuse(t, 26), bloom(t, 10), blocked(t, 10)})
				o.CompactionTableSize, o.FilterBaseLg = 64<<10, 14
				return o
			}, []byte{fuseEncoding, 6, blockedEncoding}},
		} {
			t.Run(fmt.Sprintf("%s, seed %d", c.name, seed), func(t *testing.T) {
				got, asked := operate(t, seed, steps, c.options)
				for i := range want {
					require.Equal(t, want[i], got[i], "answer %d", i)
				}
				require.Len(t, got, len(want))
				avoided := uint64(0)
				for _, c := range asked {
					avoided += c.ReadsAvoided
				}
				require.Greater(t, avoided, uint64(steps/50), "the filters are asked")
				if testing.Short() {
					return
				}
				require.ElementsMatch(t, c.kinds, slices.Collect(maps.Keys(asked)))
				for kind, c := range asked {
					require.Positive(t, c.ReadsAvoided, "%#x", kind)
					require.Positive(t, c.MayContain, "%#x", kind)
				}
			})
		}
	}
}

// operate runs random operations, which seed alone decides, and returns all answers, and what the filters answered. options
// says with what the database is opened, at first and each time again.
func operate(
	t *testing.T, seed int64, steps int, options func(t *testing.T, opening int) *opt.Options,
) (answers []string, asked witness) {
	rng := seeded(t, seed)
	dir := t.TempDir()
	var db *leveldb.DB
	asked = witness{}
	openings := 0
	reopen := func() {
		if db != nil {
			require.NoError(t, db.Close())
		}
		o := options(t, openings)
		asked.watch(o)
		db = open(t, dir, o)
		openings++
	}
	reopen()
	// Half of the keys are never written, and lie between the others.
	key := func() []byte { return fmt.Appendf(nil, "key%05d", rng.Intn(6000)) }
	written := func() []byte { return fmt.Appendf(nil, "key%05d", rng.Intn(3000)*2) }
	note := func(format string, args ...any) { answers = append(answers, fmt.Sprintf(format, args...)) }
	look := func(get func([]byte, *opt.ReadOptions) ([]byte, error)) {
		k := key()
		value, err := get(k, nil)
		if !errors.Is(err, leveldb.ErrNotFound) {
			require.NoError(t, err)
		}
		note("%s: %q, %v", k, value, err)
	}
	scan := func(iterate func(*util.Range, *opt.ReadOptions) iterator.Iterator) {
		it := iterate(&util.Range{Start: key()}, nil)
		defer it.Release()
		for n := rng.Intn(20); n > 0 && it.Next(); n-- {
			note("at %s: %q", it.Key(), it.Value())
		}
		require.NoError(t, it.Error())
	}
	for step := range steps {
		switch n := rng.Intn(1000); {
		case n < 300:
			require.NoError(t, db.Put(written(), fmt.Appendf(nil, "%d%0*d", step, rng.Intn(60), 0), nil))
		case n < 350:
			require.NoError(t, db.Delete(written(), nil))
		case n < 380:
			batch := new(leveldb.Batch)
			for range rng.Intn(20) {
				batch.Put(written(), fmt.Appendf(nil, "%d in a batch", step))
				batch.Delete(written())
			}
			require.NoError(t, db.Write(batch, nil))
		case n < 950:
			look(db.Get)
		case n < 980:
			scan(db.NewIterator)
		case n < 990:
			snapshot, err := db.GetSnapshot()
			require.NoError(t, err)
			require.NoError(t, db.Delete(written(), nil))
			look(snapshot.Get)
			scan(snapshot.NewIterator)
			snapshot.Release()
		case n < 994:
			require.NoError(t, db.CompactRange(util.Range{Start: key()}))
		case n < 995:
			rewrite(t, db)
		default:
			reopen()
		}
	}
	reopen()
	for i := range 6000 {
		k := fmt.Appendf(nil, "key%05d", i)
		value, err := db.Get(k, nil)
		note("at the end %s: %q, %v", k, value, err)
	}
	require.NoError(t, db.Close())
	return answers, asked
}
