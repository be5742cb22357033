package verdict

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// million returns figures of a database of a million keys, with Bloom filters under a name.
func million(engine, name string, levels ...Level) *Figures {
	f := &Figures{Engine: engine, Cache: 8 << 20, Keys: 1_000_000, Bytes: 100e6, Old: 90e6, Sampled: 65536,
		Lookups: 40_000, Memory: "What CheckCache says."}
	for _, l := range levels {
		l.Tables, l.FilterBytes, l.RibbonBytes = 40, 1_300_000, 1_350_000
		l.Policies, l.Filters = map[string]int{name: 40}, map[string]int{"LevelDB Bloom": 40}
		f.Levels = append(f.Levels, l)
	}
	return f
}

func (f *Figures) with(change func(f *Figures)) *Figures {
	change(f)
	return f
}

// allRibbon makes all filters ribbon filters, beside a table without keys.
func allRibbon(f *Figures) {
	for i := range f.Levels {
		f.Levels[i].Filters = map[string]int{"ribbon": 39, NoKeys: 1}
	}
}

const (
	name1  = "leveldb.BuiltinBloomFilter"
	name2  = "leveldb.BuiltinBloomFilter2"
	pebble = "rocksdb.BuiltinBloomFilter"
)

// What is said, by the figures, and with which facts: the first words of each.
func TestRules(t *testing.T) {
	deep := Level{Number: 6, Get: 910, Has: 12.6, Bare: 910, Ribbon: 1.2}
	upper := Level{Number: 5, Get: 9, Has: 9, Bare: 400, Ribbon: 0.5}
	flat := Level{Number: 2, Get: 121, Has: 121, Bare: 4800, Ribbon: 4.9}
	level0 := Level{Get: 60, Has: 60, Bare: 5000, Ribbon: 6}
	good := Level{Number: 2, Get: 12, Has: 12, Bare: 1000, Ribbon: 2.5}
	const memory = "What CheckCache says."
	for name, c := range map[string]struct {
		figures *Figures
		want    string
		facts   []string
	}{
		"decimals": {million("goleveldb", name1, flat), "Use ribbon filters: 4.9 reads per 1,000 " +
			"lookups of absent keys (computed), not 121 (counted).", []string{
			"40 of 40 tables have other filters. Rewrite gives them ribbon filters while the " +
				"database is in use. It writes their 90 MB anew, with what lies above them.", memory,
			"If plain goleveldb must use the filters too: policy.NewBloom(10, " +
				"policy.WithName(policy.NameGoLevelDB), policy.WithTuning())."}},
		"C++ LevelDB, random keys": {million("goleveldb", name2,
			Level{Number: 1, Get: 15, Bare: 1000, Ribbon: 1}), "Use ribbon filters: 1.0 reads",
			[]string{"40 of 40 tables have other", memory,
				"If C++ LevelDB must use the filters too: policy.NewBloom(10)."}},
		"no filters": {million("goleveldb", name1, flat).with(func(f *Figures) {
			f.Levels[0].Policies, f.Levels[0].FilterBytes = nil, 0
			f.Levels[0].Filters = map[string]int{NoFilter: 40}
		}), "Use ribbon filters: 4.9 reads", []string{"40 of 40 tables have no filter (40 in L2): " +
			"lookups read them. Rewrite gives", memory}},
		"all kinds": {million("goleveldb", "mine", level0, flat, good).with(func(f *Figures) {
			f.Levels[0].Filters = map[string]int{NoFilter: 9, "LevelDB Bloom": 30, NoKeys: 1}
			f.Levels[1].Filters = map[string]int{NoFilter: 20, "ribbon": 20}
		}), "Use ribbon filters", []string{"29 of 119 tables have no filter (9 in L0, 20 in L2): " +
			"lookups read them. 70 of 119 tables have other filters. Rewrite gives", memory}},
		"not worth it": {million("goleveldb", name1, good), "Nothing to do: no other filter " +
			"saves a read in a hundred lookups.", []string{memory}},
		"200 keys": {million("goleveldb", name1, flat).with(func(f *Figures) { f.Keys = 4999 }),
			"Nothing to do: with so few keys, any filter does.", nil},
		"it fits": {million("goleveldb", name1, flat).with(func(f *Figures) { f.Bytes = 2 << 20 }),
			"Nothing to do: all tables, 2.1 MB, fit into the block cache of 8.4 MB.", nil},
		"it may not fit": {million("goleveldb", name1, flat).with(func(f *Figures) {
			f.Bytes = 3 << 20
		}), "Use ribbon filters", []string{"40 of 40", memory, "If plain goleveldb"}},
		"nothing between": {million("goleveldb", name1, flat).with(func(f *Figures) {
			f.Lookups = 0
		}), "No verdict: no absent keys were found between the keys.", nil},

		"Pebble": {million("pebblev2", pebble, upper, deep), "Use ribbon filters, and look " +
			"up absent keys with pebblev2.Has: 1.7 reads per 1,000 lookups of absent keys " +
			"(computed), not 919 (counted).", []string{"80 of 80 tables have other filters. " +
			"Rewrite gives them ribbon filters while the database is in use. It writes their 90 MB " +
			"anew, with what lies above them. Until then, Has reads 22 (counted).", memory}},
		"ribbon in all of Pebble": {million("pebblev2", name2, deep).with(allRibbon), "Keep the " +
			"filters, and look up absent keys with pebblev2.Has: 13 reads per 1,000 lookups of " +
			"absent keys (counted), not 910 (counted).", []string{memory}},
		"Pebble v1": {million("pebblev1", pebble, deep), "Use ribbon filters, and look up absent " +
			"keys with pebblev1.Has", []string{"40 of 40", memory}},
		"all in L0": {million("pebblev2", name2, level0), "Use ribbon filters, and look up",
			[]string{"40 of 40", memory}},
		"L0": {million("pebblev2", name2, level0, deep).with(func(f *Figures) {
			f.Levels[0].RibbonBytes = 100_000
		}), "Use ribbon filters, and look up", []string{"80 of 80", memory, "6.0 of these reads " +
			"are in L0, which has few keys. More bits there save them: with p16 of " +
			"policy.NewRibbon(16), err = pebblev2.Configure(options, p, pebblev2.WithLevel(0, p16))"}},
	} {
		t.Run(name, func(t *testing.T) {
			v := Of(c.figures)
			require.True(t, strings.HasPrefix(v.Sentence, c.want), v.Sentence)
			require.Len(t, v.Facts, len(c.facts), v.Facts)
			for i, fact := range c.facts {
				require.True(t, strings.HasPrefix(v.Facts[i], fact), v.Facts[i])
			}
			advised := len(v.Rows) == 3
			others := "(counted). If your program looks up no absent keys, change nothing."
			if c.figures.Total().FilterBytes == 0 {
				others = " reads of present keys in lower levels, which were not counted."
			}
			require.Equal(t, advised, strings.HasSuffix(v.Sentence, others), v.Sentence)
			require.Equal(t, advised, v.Code != nil)
		})
	}
}

// The rows have the figures of the sentence, and what the code leads to is in its place.
func TestRows(t *testing.T) {
	flat := Level{Number: 1, Get: 121, Has: 121, Bare: 4800, Ribbon: 4.9}
	v := Of(million("goleveldb", name1, flat))
	require.Equal(t, []Row{{"now", 121, true, 1_300_000},
		{"with the code below", 4.9, false, 1_350_000}, {"without filters", 4800, true, 0}}, v.Rows)
	require.Equal(t, []string{"p, err := policy.NewRibbon(10)",
		"options.DisableSeeksCompaction = true", "err = goleveldb.Configure(options, p)",
		"err = goleveldb.Rewrite(ctx, options, db, nil) // once db is open"}, v.Code)

	deep := Level{Number: 6, Get: 910, Has: 1.3, Bare: 912, Ribbon: 1.2}
	v = Of(million("pebblev1", name1, deep).with(allRibbon))
	require.Equal(t, Row{"with the code below", 1.3, true, 1_300_000}, v.Rows[1])
	require.Equal(t, []string{"p, err := policy.NewRibbon(10)",
		"err = pebblev1.Configure(options, p)", "found, err := pebblev1.Has(db, key)"}, v.Code)

	flat.Get, flat.Has = 5, 5
	v = Of(million("goleveldb", name1, flat))
	require.Len(t, v.Rows, 2, "there is no code")
}

func TestDigits(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 0.000018: "0", 0.123: "0.12", 1: "1.0",
		9.94: "9.9", 9.97: "10", 4580.4: "4580"} {
		require.Equal(t, want, Digits(n))
	}
}
