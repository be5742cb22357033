package verdict

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// million returns figures of a database of a million keys in one level, of which 1,000 lookups read
// that many blocks now, with ribbon filters, and without filters.
func million(engine string, level int, read, ribbon, bare float64) Figures {
	return Figures{
		Engine: engine, Cache: 8 << 20, Keys: 1_000_000, Bytes: 100e6, IndexBytes: 500_000,
		Sampled: 65536, Lookups: 40_000, Names: map[string]int{"leveldb.BuiltinBloomFilter": 40},
		Levels: []Level{{
			Number: level, Tables: 40, FilterBytes: 1_300_000, RibbonBytes: 1_350_000, SmallBytes: 950_000,
			Ranges: 1000, Checks: 1000, Read: read, Bare: bare, Ribbon: ribbon, Small: 8, Tuned: 9,
		}},
	}
}

// tree adds a level without filters, or with such as the other one has.
func (f Figures) tree(number, unfiltered int, read, ribbon, bare float64) Figures {
	f.Levels = append(f.Levels, Level{Number: number, Tables: 40, Unfiltered: unfiltered,
		FilterBytes: 11_000_000, RibbonBytes: 11_500_000, SmallBytes: 8_000_000, Ranges: 1000,
		Read: read, Bare: bare, Ribbon: ribbon, Small: 8})
	return f
}

func (f Figures) with(change func(f *Figures)) Figures {
	change(&f)
	return f
}

// What is said, by the figures.
func TestRules(t *testing.T) {
	const (
		keep   = "Keep what you have: no other filter saves a read in a hundred lookups."
		ribbon = "p, err := policy.NewRibbon(10)"
	)
	noFilters := func(f *Figures) {
		f.Levels[0].Unfiltered, f.Levels[0].FilterBytes, f.Names = 40, 0, nil
	}
	const goleveldb = "err = goleveldb.Configure(options, p, goleveldb.WithoutSeekCompactions())"
	few := func(n int64) func(f *Figures) { return func(f *Figures) { f.Keys = n } }
	everywhere := []string{ribbon, "err = pebblev2.Configure(options, p)",
		"found, err := pebblev2.Has(db, key)"}
	for name, c := range map[string]struct {
		figures Figures
		want    string
		code    []string
	}{
		"one table, 12 %": {million("goleveldb", 0, 120, 1.2, 1000), "Use ribbon filters: 1.2 reads " +
			"per 1,000 lookups of absent keys (computed), not 120 (counted).",
			[]string{ribbon, goleveldb}},
		"decimals, 63 %": {million("goleveldb", 2, 121, 4.9, 4800), "Use ribbon filters: 4.9 reads " +
			"per 1,000 lookups of absent keys (computed), not 121 (counted).",
			[]string{ribbon, goleveldb}},
		"no filters": {million("goleveldb", 2, 2932, 3, 2932).with(noFilters), "Use ribbon filters: " +
			"3.0 reads per 1,000 lookups of absent keys (computed), not 2932 (counted).",
			[]string{ribbon, goleveldb}},
		"ribbon already": {million("goleveldb", 2, 5, 4.9, 4800), keep, nil},
		"UUIDs": {million("goleveldb", 1, 12, 1.3, 1000), "Use ribbon filters: 1.3 reads per " +
			"1,000 lookups of absent keys (computed), not 12 (counted).",
			[]string{ribbon, goleveldb}},
		"URLs":              {million("goleveldb", 1, 9, 1.3, 1000), keep, nil},
		"just not worth it": {million("goleveldb", 1, 11.2, 1.3, 1000), keep, nil},
		"200 keys": {million("goleveldb", 0, 120, 1, 1000).with(few(200)),
			"Too few keys: any filter does.", nil},
		"4,999 keys, no filters": {million("goleveldb", 0, 900, 1, 1000).with(few(4999)).with(noFilters),
			"Too few keys: any filter does.", nil},
		"5,000 keys": {million("goleveldb", 0, 5, 4.9, 1000).with(few(5000)), keep, nil},
		"it fits the cache": {million("goleveldb", 0, 120, 1, 1000).with(
			func(f *Figures) { f.Bytes = 8 << 20 }),
			"Nothing to gain: all tables, 8.4 MB, fit into the block cache of 8.4 MB.", nil},
		"tables that are gone": {million("goleveldb", 0, 120, 1, 1000).with(
			func(f *Figures) { f.Keys, f.Unread = 100, 3 }), "No verdict: 3 of its tables could not be " +
			"read; if the database is in use, try again.", nil},
		"all tables are gone": {Figures{Engine: "goleveldb", Cache: 8 << 20, Unread: 1}, "No verdict: " +
			"1 of its tables could not be read; if the database is in use, try again.", nil},
		"an eighth is gone": {million("goleveldb", 2, 5, 4.9, 4800).with(
			func(f *Figures) { f.Unread = 5 }), "No verdict: 5 of its tables could not be read; if the " +
			"database is in use, try again.", nil},
		"a table is gone": {million("goleveldb", 2, 5, 4.9, 4800).with(
			func(f *Figures) { f.Unread = 1 }), keep, nil},
		"nothing between": {million("goleveldb", 0, 0, 0, 0).with(func(f *Figures) { f.Lookups = 0 }),
			"No verdict: no absent keys were found between the keys.", nil},
		"RocksDB": {million("", 0, 120, 1, 1000),
			"No verdict: there is no adapter for this engine.", nil},
		"another comparer": {Figures{Why: "the comparer mine is not known here"},
			"No verdict: the comparer mine is not known here.", nil},

		"Pebble's own, no L6": {million("pebblev1", 5, 60, 1.3, 1000), "Use ribbon filters, and look up " +
			"absent keys with pebblev1.Has: 1.3 reads per 1,000 (computed), not 60 (counted).",
			[]string{ribbon, "err = pebblev1.Configure(options, p)", "found, err := pebblev1.Has(db, key)"}},
		"Pebble v1 may have no Split": {million("pebblev1", 5, 4, 0.5, 400).tree(6, 0, 12.5, 1.2, 985),
			"Use ribbon filters, and look up absent keys with pebblev1.Has: 1.7 reads per 1,000 " +
				"(computed), not 989 (counted).",
			[]string{ribbon, "err = pebblev1.Configure(options, p)", "found, err := pebblev1.Has(db, key)"}},
		"L6 without filters": {million("pebblev2", 5, 9, 0.5, 400).tree(6, 40, 910, 1.2, 910),
			"Use ribbon filters, and look up absent keys with pebblev2.Has: 1.7 reads per 1,000 " +
				"(computed), not 919 (counted).", everywhere},
		"half of L6 with filters": {million("pebblev2", 5, 9, 0.5, 400).tree(6, 20, 455, 1.2, 910),
			"Use ribbon filters, and look up absent keys with pebblev2.Has: 1.7 reads per 1,000 " +
				"(computed), not 919 (counted).", everywhere},
		"L6 with the engine's own filters": {million("pebblev2", 5, 4, 0.5, 400).
			tree(6, 0, 12.5, 1.2, 985),
			"Look up absent keys with pebblev2.Has: 16 reads per 1,000, not the 989 of Get (both " +
				"counted). L6 has the filters for it already.", everywhere[2:]},
		"ribbon in L6 already": {million("pebblev2", 5, 0.5, 0.5, 400).tree(6, 0, 1.2, 1.2, 910),
			"Look up absent keys with pebblev2.Has: 1.7 reads per 1,000, not the 910 of Get (both " +
				"counted). L6 has the filters for it already.", everywhere[2:]},
		"few keys in L6": {million("pebblev2", 5, 4, 0.5, 400).tree(6, 0, 0.1, 0.1, 5), keep, nil},

		"memory": {million("goleveldb", 1, 9, 1.3, 1000).with(func(f *Figures) {
			f.Levels[0].FilterBytes, f.Levels[0].SmallBytes = 13e6, 8.6e6
		}), "Use ribbon filters of 7 bits to save memory: 8.6 MB (computed), not 13 MB. The reads " +
			"stay about the same.",
			[]string{"p, err := policy.NewRibbon(7)", goleveldb}},
		"memory, but reads": {million("goleveldb", 1, 2, 1.3, 1000).with(func(f *Figures) {
			f.Levels[0].FilterBytes, f.Levels[0].SmallBytes = 13e6, 8.6e6
		}), keep, nil},
		"memory of L6 alone": {million("pebblev2", 5, 9, 0.5, 400).tree(6, 0, 0.1, 0.1, 1), keep, nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := Of(c.figures)
			require.Equal(t, c.want, v.Sentence)
			require.Equal(t, c.code, v.Code)
			if c.code == nil && v.Why == "" {
				require.Len(t, v.Facts, 2)
			}
			for _, l := range v.Levels {
				if c.code == nil {
					require.Equal(t, l.Now, l.Then)
					require.Equal(t, float64(l.FilterBytes), l.ThenBytes)
				}
			}
			_, err := json.Marshal(v)
			require.NoError(t, err)
			if v.Engine != "goleveldb" {
				require.NotContains(t, strings.Join(v.Facts, " "), "C++")
			}
		})
	}
}

// What a picture compares is what the sentence does.
func TestNowAndThen(t *testing.T) {
	v := Of(million("pebblev2", 5, 9, 0.5, 400).tree(6, 40, 910, 1.2, 910))
	require.Equal(t, 9.0, v.Levels[0].Now)
	require.Equal(t, 0.5, v.Levels[0].Then)
	require.Equal(t, 910.0, v.Levels[1].Now)
	require.Equal(t, 1.2, v.Levels[1].Then)
	require.Equal(t, 11_500_000.0, v.Levels[1].ThenBytes)
}

func TestFacts(t *testing.T) {
	v := Of(million("goleveldb", 1, 120, 1.2, 1000))
	require.Equal(t, []string{"Counted with 40000 absent keys between 65536 of yours: each lies in " +
		"the range of 1.0 tables. For 1,000 of them, the engine's own Get reads 120 data blocks, and " +
		"without filters 1000. For 1,000 keys of random bytes it reads 0, for keys beyond yours none.",
		"40 of 40 tables have filters, of 1.3 MB; ribbon filters in all would have 1.4 MB (computed). " +
			"Filters and indexes, together 1.8 MB, need a block cache of 3.6 MB or more, besides the " +
			"data: BlockCacheCapacity, by default 8.4 MB.",
		"If C++ LevelDB or plain goleveldb must use the filters: policy.NewBloom(10, " +
			"policy.WithName(policy.NameGoLevelDB), policy.WithTuning()), with 9.0 reads (simulated).",
	}, v.Facts)
	v = Of(million("goleveldb", 1, 120, 1.2, 1000).with(func(f *Figures) {
		f.Names, f.Unread = map[string]int{"leveldb.BuiltinBloomFilter2": 40}, 2
	}))
	require.NotContains(t, v.Facts[1], "OpenFilesCacheCapacity")
	require.Contains(t, v.Facts[1], "2 tables could not be read and are left out.")
	require.Contains(t, v.Facts[2], "policy.NewBloom(10, policy.WithTuning())")

	v = Of(million("goleveldb", 1, 120, 1.2, 1000).with(func(f *Figures) { f.Levels[0].Tables = 600 }))
	require.Contains(t, v.Facts[1], "Set OpenFilesCacheCapacity to 750 or more; by default it is 500.")

	v = Of(million("pebblev2", 5, 4, 0.5, 400).tree(6, 0, 12.5, 1.2, 985))
	require.Contains(t, v.Facts[1], "indexes, together 13 MB, need a block cache of 26 MB or "+
		"more, besides the data and two memtables: Options.Cache, which has 8.4 MB.")
	require.Contains(t, v.Facts[0], "reads 989 data blocks, its adapter's Has 16, and without")
	require.Contains(t, v.Facts[2], "a read for each older version")
	require.Contains(t, v.Facts[3], "With ribbon filters, Has would read 1.7 (computed).")
}
