package pebblev1_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev1"
	"github.com/levelbloom/levelbloom/policy"
)

// The same random operations give the same answers under every filter, and without any.
func TestFiltersChangeNoAnswer(t *testing.T) {
	steps := 2_000
	if testing.Short() {
		steps = 1_000
	}
	builtin := func(t *testing.T, o *pebble.Options, _ int) {
		engineSetting.configure(t, o)
		o.Filters = map[string]pebble.FilterPolicy{engineName: o.Levels[0].FilterPolicy} // to be watched
	}
	always := func(p policy.Policy) func(*testing.T, *pebble.Options, int) {
		return func(t *testing.T, o *pebble.Options, _ int) { configured(t, o, p, pebblev1.WithL6()) }
	}
	mine := policy.WithName("mine")
	for i, format := range formats {
		for j, comparer := range comparers {
			seed := int64(len(comparers)*i + j)
			run := func(t *testing.T, configure func(*testing.T, *pebble.Options, int)) ([]string, map[string]policy.Counters) {
				fs := vfs.NewMem()
				return operate(t, seed, steps, func(opening int) *pebble.Options {
					o := small(format)
					o.FS, o.Comparer = fs, comparer
					configure(t, o, opening)
					return o
				})
			}
			want, _ := run(t, func(*testing.T, *pebble.Options, int) {})
			for _, c := range []struct {
				name      string
				configure func(t *testing.T, o *pebble.Options, opening int)
				asked     []string // labels of filters that surely are, in L6
			}{
				{"Pebble's own", builtin, []string{engineName}},
				{"exact", always(bloom(t, 10)), []string{label(policy.Name, 6)}},
				{"blocked", always(blocked(t, 10)), []string{label(policy.Name, blockedEncoding)}},
				{"exact above blocked", func(t *testing.T, o *pebble.Options, _ int) {
					x, b := bloom(t, 10), blocked(t, 16)
					require.NoError(t, pebblev1.ConfigureLevels(o, []policy.Policy{x, x, x, b, b, b, b}))
				}, []string{label(policy.Name, blockedEncoding)}},
				{"exact and blocked above binary fuse", func(t *testing.T, o *pebble.Options, _ int) {
					x, b, f := bloom(t, 10), blocked(t, 16), fuse(t, 27, mine)
					require.NoError(t, pebblev1.ConfigureLevels(o, []policy.Policy{x, b, b, b, b, f, f}))
					large(o)
				}, []string{label("mine", fuseEncoding)}},
				{"binary fuse of 8, 12 and 16 bits, for few keys blocked", func(t *testing.T, o *pebble.Options, opening int) {
					always(fuse(t, []float64{11.6, 18, 27}[opening%3]))(t, o, opening)
					large(o)
				}, []string{label(policy.Name, fuseEncoding)}},
				{"all in turn", func(t *testing.T, o *pebble.Options, opening int) {
					builtin(t, o, opening)
					switch opening % 5 {
					case 1:
						always(fuse(t, 27))(t, o, opening)
					case 2:
						always(bloom(t, 16))(t, o, opening)
					case 3:
						always(blocked(t, 16, mine))(t, o, opening)
					case 4:
						always(blocked(t, 5))(t, o, opening)
					}
					large(o)
				}, []string{engineName, label(policy.Name, fuseEncoding), label("mine", blockedEncoding)}},
			} {
				t.Run(fmt.Sprintf("%s/%s/%s", format, comparer.Name, c.name), func(t *testing.T) {
					got, asked := run(t, c.configure)
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
					for _, label := range c.asked {
						require.Positive(t, asked[label].ReadsAvoided, label)
						require.Positive(t, asked[label].MayContain, label)
					}
				})
			}
		}
	}
}

// operate runs random operations, which seed alone decides, and returns all answers, and what the filters answered. options
// says with what the database is opened, at first and each time again.
func operate(
	t *testing.T, seed int64, steps int, options func(opening int) *pebble.Options,
) (answers []string, asked map[string]policy.Counters) {
	rng := seeded(t, seed)
	var db *pebble.DB
	w := newWitness()
	openings := 0
	reopen := func() {
		if db != nil {
			require.NoError(t, db.Close())
		}
		o := options(openings)
		w.watch(o)
		db = open(t, dbDir, o)
		openings++
	}
	reopen()
	// Ten keys each have their first 8 bytes in common. Five of every second ten are written, the others lie between them: 400
	// prefixes are enough for a binary fuse filter of 27 bits per key.
	const keys = 8000
	nth := func(i int) []byte { return fmt.Appendf(nil, "keys%05d", i) }
	nthWritten := func(i int) []byte { return nth(i/5*20 + i%5*2) }
	written := func() []byte { return nthWritten(rng.Intn(keys / 4)) }
	key := func() []byte {
		if rng.Intn(2) == 0 {
			return written()
		}
		return nth(rng.Intn(keys))
	}
	note := func(format string, args ...any) { answers = append(answers, fmt.Sprintf(format, args...)) }
	look := func(in pebble.Reader, k []byte) {
		value, closer, err := in.Get(k)
		note("%s: %q, %v", k, value, err)
		if err == nil {
			require.NoError(t, closer.Close())
		}
	}
	seek := func(in pebble.Reader, k []byte) {
		iter, err := in.NewIter(&pebble.IterOptions{UseL6Filters: true})
		require.NoError(t, err)
		for valid := iter.SeekPrefixGE(k); valid; valid = iter.Next() {
			note("from %s: %s: %q", k, iter.Key(), iter.Value())
		}
		require.NoError(t, iter.Close())
	}
	for i := range keys / 4 {
		require.NoError(t, db.Set(nthWritten(i), nil, pebble.NoSync))
	}
	for step := range steps {
		switch n := rng.Intn(1000); {
		case n < 300:
			require.NoError(t, db.Set(written(), fmt.Appendf(nil, "%d%0*d", step, rng.Intn(60), 0), pebble.NoSync))
		case n < 350:
			require.NoError(t, db.Delete(written(), pebble.NoSync))
		case n < 355:
			i := rng.Intn(keys)
			require.NoError(t, db.DeleteRange(nth(i), nth(i+rng.Intn(50)), pebble.NoSync))
		case n < 380:
			batch := db.NewBatch()
			for range rng.Intn(20) {
				require.NoError(t, batch.Set(written(), fmt.Appendf(nil, "%d in a batch", step), nil))
				require.NoError(t, batch.Delete(written(), nil))
			}
			require.NoError(t, batch.Commit(pebble.NoSync))
		case n < 700:
			look(db, key())
		case n < 960:
			seek(db, key())
		case n < 975:
			snapshot := db.NewSnapshot()
			require.NoError(t, db.Delete(written(), pebble.NoSync))
			look(snapshot, key())
			seek(snapshot, key())
			require.NoError(t, snapshot.Close())
		case n < 990:
			require.NoError(t, db.Flush())
		case n < 993:
			compact(t, db)
		default:
			reopen()
			if openings%2 == 0 { // so that each setting's filters hold most keys at times, as do those of the one before
				compact(t, db)
			}
		}
	}
	reopen()
	for range 1500 {
		k := key()
		look(db, k)
		seek(db, k)
	}
	require.NoError(t, db.Close())
	return answers, w.answers()
}
