package verdict

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verify"
)

const (
	name1  = "leveldb.BuiltinBloomFilter"
	pebble = "rocksdb.BuiltinBloomFilter"
)

// A database has 40 tables, with filters under a name, in a level.
type database struct {
	engine, name         string
	get, has, bare, then float64
}

// figures returns those of a database of a million keys.
func (d database) figures() *Figures {
	f := &Figures{Engine: d.engine, Cache: 8 << 20, Sampled: 65536, Lookups: 40_000,
		BlockCache: Setting{8 << 20, 3 << 20}, OpenTables: Setting{500, 40},
		Get: d.get, Has: d.has, Bare: d.bare, Ribbon: d.then}
	for range 40 {
		r := &verify.Result{Size: 2_500_000, Keys: 25_000, Policy: d.name, FilterBytes: 32_500,
			RibbonBytes: 33_750}
		if r.ByKind = map[string]int{"bloom": 1}; d.name == "" {
			r.ByKind, r.FilterBytes = nil, 0
		}
		f.Add(2, r)
	}
	return f
}

func (f *Figures) with(change func(f *Figures)) *Figures {
	change(f)
	return f
}

// What is said, by the figures, and with which facts: the first words of each.
func TestRules(t *testing.T) {
	flat := database{"goleveldb", name1, 121, 121, 4800, 4.9}
	deep := database{"pebblev2", pebble, 919, 22, 1310, 1.7}
	bare, good := flat, flat
	bare.name = ""
	good.get = 12
	const others = "40 of 40 tables have no ribbon filters: Rewrite writes their 95 MiB again, and " +
		"the tables above that overlap them. Programs without levelbloom can still open the database."
	const memory, room = "With ", " default options, the block cache has 8.0 MiB, and lookups need "
	withRibbon := func(f *Figures) { // in 12 of 40 tables, none in the others
		f.Total.Filters, f.Unfiltered = map[string]int{"ribbon": 12, NoFilter: 28}, 28*25_000
	}
	for name, c := range map[string]struct {
		figures *Figures
		want    string
		facts   []string
	}{
		"decimals": {flat.figures(), "Use ribbon filters: 1,000 lookups of absent keys then read " +
			"4.9 data blocks, not 121. If your program looks up no absent keys, change nothing.",
			[]string{others, memory + "goleveldb's" + room + "3.0 MiB there."}},
		"no filters": {bare.figures(), "Use ribbon filters and goleveldb.Rewrite: 40 of 40 tables have " +
			"no filter. 1,000 lookups of absent keys then read 4.9 data blocks, not 121. Filters also " +
			"save reads of present keys", []string{others, memory}},
		"half": {flat.figures().with(withRibbon), "Call goleveldb.Rewrite: 28 of 40 tables have no " +
			"filter. 1,000 lookups of absent keys then read 4.9 data blocks, not 121.",
			[]string{"28 of 40", memory}},
		"half, few absent keys there": {good.figures().with(withRibbon), "Call goleveldb.Rewrite: " +
			"28 of 40 tables have no filter. Few absent keys were found", []string{"28 of 40", memory}},
		"half, no absent keys": {good.figures().with(withRibbon).with(func(f *Figures) { f.Lookups = 0 }),
			"Call goleveldb.Rewrite: 28 of 40 tables have no filter.", []string{"28 of 40", memory}},
		"half, by other options": {deep.figures().with(withRibbon).with(func(f *Figures) {
			f.Configured = []string{pebble}
		}), "Use ribbon filters and pebblev2.Rewrite", []string{"28 of 40", "With the program's"}},
		"half, without in L6": {deep.figures().with(withRibbon).with(func(f *Figures) {
			f.Configured = []string{pebble + "2", "none"}
		}), "Use ribbon filters and pebblev2.Rewrite, and look keys up with pebblev2.Has: 28 of 40 ",
			[]string{"The program's options have no policy", "28 of 40", "With the program's"}},
		"few tables lack filters": {good.figures().with(withRibbon).with(func(f *Figures) {
			f.Unfiltered = f.Keys / 100
		}), "Nothing to do: other filters would save less than 1 read", []string{memory}},
		"not worth it": {good.figures(), "Nothing to do: other filters would save less than 1 read " +
			"in 100 lookups of absent keys.", []string{memory}},
		"of another program": {deep.figures().with(func(f *Figures) { f.Configured = []string{"none"} }),
			"Use ribbon filters", []string{"The program's options have no policy " + pebble, others,
				"With the program's options, the block cache has"}},
		"of this program": {deep.figures().with(func(f *Figures) { f.Configured = []string{pebble} }),
			"Use ribbon filters", []string{others, memory}},
		"it fits": {flat.figures().with(func(f *Figures) { f.Bytes = 2 << 20 }),
			"Nothing to do: all tables, 2.0 MiB, fit into the 8.0 MiB that the block cache has for them.",
			[]string{memory}},
		"little data": {deep.figures().with(func(f *Figures) { f.Bytes, f.Cache = 1<<20, 0 }),
			"Nothing to do: too little data for filters to matter.", []string{memory}},
		"it fits, but the indexes do not": {flat.figures().with(func(f *Figures) {
			f.Bytes, f.BlockCache.Required = 2<<20, 9<<20
		}), "Use ribbon filters", []string{others, memory}},
		"it may not fit": {flat.figures().with(func(f *Figures) { f.Bytes = 3 << 20 }),
			"Use ribbon filters", []string{others, memory}},
		"too small a cache": {good.figures().with(func(f *Figures) { f.BlockCache.Required = 9 << 20 }),
			"Nothing to do but for the caches: other filters would save", []string{memory + "goleveldb's" +
				room + "9.0 MiB there: set options.BlockCacheCapacity = 9 << 20, or more for the data."}},
		"it fits, in many tables": {deep.figures().with(func(f *Figures) {
			f.Bytes, f.OpenTables.Required = 2<<20, 501
		}), "Nothing to do but for the caches: all tables, 2.0 MiB, fit ", []string{memory + "Pebble's" +
			room + "3.0 MiB there; not all tables stay open: set options.MaxOpenFiles = 501."}},
		"nothing between": {flat.figures().with(func(f *Figures) { f.Lookups = 0 }),
			"No verdict: no absent keys were found between the keys.", nil},
		"Pebble": {deep.figures(), "Use ribbon filters, and look keys up with pebblev2.Has: " +
			"1,000 lookups of absent keys then read 1.7 data blocks, not 919, and 22 with Has alone. If ",
			[]string{others, memory}},
		"ribbon in all of Pebble": {deep.figures().with(func(f *Figures) { f.Old = 0 }),
			"All tables have ribbon filters: 1,000 lookups of absent keys read 22 data blocks by " +
				"pebblev2.Has, and 919 by DB.Get.", []string{memory}},
		"ribbon in all": {good.figures().with(func(f *Figures) { f.Old = 0 }), "All tables have ribbon " +
			"filters: 1,000 lookups of absent keys read 12 data blocks in a program that calls " +
			"goleveldb.Configure.", []string{memory}},
		"ribbon in all, of another program": {deep.figures().with(func(f *Figures) {
			f.Old, f.Configured = 0, []string{"none"}
		}), "All tables have ribbon filters, but the program's options do not name them. With " +
			"Configure, 1,000 lookups of absent keys read 22 data blocks by pebblev2.Has, and 919 by " +
			"DB.Get.", []string{"The program's options have no policy " + pebble, memory}},
		"ribbon in all, no absent keys": {flat.figures().with(func(f *Figures) {
			f.Old, f.Lookups = 0, 0
		}), "Nothing to do: all tables have ribbon filters.", []string{memory}},
	} {
		t.Run(name, func(t *testing.T) {
			v := Of(c.figures)
			require.True(t, strings.HasPrefix(v.Sentence, c.want), v.Sentence)
			for _, row := range v.Rows { // what the program does not do is no "now"
				if strings.Contains(row.Setup, "by Has") {
					require.Equal(t, c.figures.unused() == "", row.Setup == "now, by Has", row.Setup)
				}
			}
			if strings.HasPrefix(v.Sentence, "All tables") {
				require.Equal(t, c.want, v.Sentence, "no more is to be done")
			}
			require.Len(t, v.Facts, len(c.facts), v.Facts)
			for i, fact := range c.facts {
				require.True(t, strings.HasPrefix(v.Facts[i], fact), v.Facts[i])
			}
			// Code is for those who are to do something, without what they did.
			code, toDo := strings.Join(v.Code, "\n"), !strings.HasPrefix(c.want, "No")
			isPebble := c.figures.Engine == "pebblev2"
			lacks := strings.HasPrefix(c.want, "Use ") || strings.Contains(c.want, "With Configure, ")
			require.Equal(t, lacks, strings.Contains(code, ".Configure("))
			require.Equal(t, toDo && c.figures.Old > 0, strings.Contains(code, ".Rewrite("))
			require.Equal(t, toDo && isPebble, strings.Contains(code, ".Has("))
		})
	}
}

// Tables without keys need no filter, and those with ribbon filters need no other.
func TestFigures(t *testing.T) {
	f := &Figures{}
	ribbon, both := map[string]int{"ribbon": 3}, map[string]int{"bloom": 1, "ribbon": 2}
	for i, r := range []verify.Result{{Keys: 5, ByKind: ribbon, Policy: "a"},
		{Keys: 5, ByKind: both, Policy: "a"}, {Keys: 5}, {ByKind: map[string]int{}}} {
		r.Size = 10
		f.Add(6-i%2, &r)
	}
	require.Equal(t, []int64{15, 5, 40, 20}, []int64{f.Keys, f.Unfiltered, f.Bytes, f.Old})
	require.Equal(t, map[string]int{"ribbon": 1, "bloom, ribbon": 1, NoFilter: 1, NoKeys: 1},
		f.Total.Filters)
	require.Equal(t, []int{5, 2, 6, 2},
		[]int{f.Levels[0].Number, f.Levels[0].Tables, f.Levels[1].Number, f.Levels[1].Tables})
}

// The rows have the figures of the sentence, and what the code leads to is in its place.
func TestRows(t *testing.T) {
	v := Of(database{"goleveldb", name1, 121, 121, 4800, 4.9}.figures())
	require.Equal(t, []Row{{"now", 121, true, 1_300_000},
		{"with the code below (computed)", 4.9, false, 1_350_000}, {"without filters", 4800, true, 0}}, v.Rows)
	v = Of(database{"pebblev1", name1, 910, 1.3, 912, 1.2}.figures().with(func(f *Figures) {
		f.Old = 0
	}))
	require.Equal(t, []Row{{"now, by DB.Get", 910, true, 1_300_000},
		{"now, by Has", 1.3, true, 1_300_000}, {"without filters", 912, true, 0}}, v.Rows)
	require.Equal(t, []string{`log.Println(pebblev1.Has(db, []byte("key"))) // or pebblev1.Get`}, v.Code)
	v = Of(database{"pebblev2", pebble, 919, 22, 1310, 1.7}.figures())
	require.Equal(t, Row{"now, by Has", 22, true, 1_300_000}, v.Rows[1])
	require.Len(t, v.Rows, 4)
	require.Len(t, Of(database{"goleveldb", name1, 5, 5, 4800, 4.9}.figures()).Rows, 2, "no code")
	v = Of(database{"pebblev2", "", 997, 997, 997, 1.7}.figures().with(func(f *Figures) {
		f.BlockCache.Has = 64 << 20
	}))
	require.Len(t, v.Rows, 2, "no filters")
	require.Contains(t, v.Code, "options.Cache = pebble.NewCache(64 << 20)", "not less than it has")
	v = Of(database{"goleveldb", "", 997, 997, 997, 1.7}.figures())
	require.NotContains(t, strings.Join(v.Code, "\n"), "Capacity", "the default suffices")
}

// The code is a program's, but for its imports and main.
func TestCode(t *testing.T) {
	for engine, imports := range map[string][]string{
		"goleveldb": {"github.com/syndtr/goleveldb/leveldb", "github.com/syndtr/goleveldb/leveldb/opt"},
		"pebblev1":  {"github.com/cockroachdb/pebble"},
		"pebblev2":  {"github.com/cockroachdb/pebble/v2"},
	} {
		program := "package main\n"
		for _, name := range append(imports, "context", "log",
			"github.com/levelbloom/levelbloom/policy",
			"github.com/levelbloom/levelbloom/adapters/"+engine) {
			program += fmt.Sprintf("import %q\n", name)
		}
		code := Of(database{engine, name1, 121, 121, 4800, 4.9}.figures().with(func(f *Figures) {
			f.BlockCache.Required, f.OpenTables.Required = 16<<20-1, 1260
		})).Code
		for _, lines := range []string{"options.Cache = pebble.NewCache(16 << 20)," +
			"options.MaxOpenFiles = 1260", "options.BlockCacheCapacity = 16 << 20," +
			"options.OpenFilesCacheCapacity = 1260"} {
			has := strings.Contains(strings.Join(code, ","), lines)
			require.Equal(t, (engine != "goleveldb") == strings.Contains(lines, "pebble"), has, code)
		}
		format := slices.Contains(code, "options.FormatMajorVersion = pebble.FormatRangeKeys")
		require.Equal(t, engine == "pebblev1", format, "whose default Rewrite refuses")
		for _, line := range code {
			require.LessOrEqual(t, len(strings.ReplaceAll(line, "\t", "        ")), 80-4)
		}
		program += "func main() {\n" + strings.Join(code, "\n") + "\n}\n"
		path := filepath.Join(t.TempDir(), "main.go")
		require.NoError(t, os.WriteFile(path, []byte(program), 0o600))
		out, err := exec.Command("go", "vet", path).CombinedOutput()
		require.NoError(t, err, "%s\n%s", program, out)
	}
}

func TestDigits(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 0.000018: "0", 0.123: "0.12", 1: "1.0",
		9.94: "9.9", 9.97: "10", 4580.4: "4,580", 1234567: "1,234,567", 999.6: "1,000"} {
		require.Equal(t, want, Digits(n))
	}
}
