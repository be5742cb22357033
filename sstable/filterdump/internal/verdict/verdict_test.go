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
		Memory: "What Check says.", Get: d.get, Has: d.has, Bare: d.bare, Ribbon: d.then}
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
	const sharing = "If C++ LevelDB or plain goleveldb must use the filters too, take policy.NewBloom"
	const memory, others = "What Check says.", "40 of 40 tables have no ribbon filters: Rewrite"
	for name, c := range map[string]struct {
		figures *Figures
		want    string
		facts   []string
	}{
		"decimals": {flat.figures(), "Use ribbon filters: 1,000 lookups of absent keys then read " +
			"4.9 data blocks, not 121. If your program looks up no absent keys, change nothing.",
			[]string{others + " writes their 95 MiB anew, and what overlaps them above.", memory,
				sharing}},
		"no filters": {bare.figures(), "Use ribbon filters: 1,000 lookups of absent keys then read " +
			"4.9 data blocks, not 121. Filters also save reads of present keys",
			[]string{others, memory}},
		"not worth it": {good.figures(), "Nothing to do: other filters would save less than 1 read " +
			"in 100 lookups of absent keys.", []string{memory}},
		"of another program": {deep.figures().with(func(f *Figures) { f.Configured = []string{"none"} }),
			"Use ribbon filters", []string{"The program's options have no policy " + pebble, others,
				memory}},
		"of this program": {deep.figures().with(func(f *Figures) { f.Configured = []string{pebble} }),
			"Use ribbon filters", []string{others, memory}},
		"few keys": {flat.figures().with(func(f *Figures) { f.Keys = 4999 }),
			"Nothing to do: with so few keys, any filter does.", []string{memory}},
		"it fits": {flat.figures().with(func(f *Figures) { f.Bytes = 2 << 20 }),
			"Nothing to do: all tables, 2.0 MiB, fit into the 8.0 MiB that the block cache has for them.",
			[]string{memory}},
		"little data": {deep.figures().with(func(f *Figures) { f.Bytes, f.Cache = 1<<20, 0 }),
			"Nothing to do: with so little data, any filter does.", []string{memory}},
		"it may not fit": {flat.figures().with(func(f *Figures) { f.Bytes = 3 << 20 }),
			"Use ribbon filters", []string{others, memory, sharing}},
		"nothing between": {flat.figures().with(func(f *Figures) { f.Lookups = 0 }),
			"No verdict: no absent keys were found between the keys.", nil},
		"Pebble": {deep.figures(), "Use ribbon filters, and look keys up with pebblev2.Has: " +
			"1,000 lookups of absent keys then read 1.7 data blocks, not 919. If ", []string{others +
			" writes their 95 MiB anew, and what overlaps them above. Programs without",
			memory}},
		"ribbon in all of Pebble": {deep.figures().with(func(f *Figures) { f.Old = 0 }),
			"Keep the filters, and look keys up with pebblev2.Has: 1,000 lookups of absent " +
				"keys then read 22 data blocks, not 919.", []string{memory}},
	} {
		t.Run(name, func(t *testing.T) {
			v := Of(c.figures)
			require.True(t, strings.HasPrefix(v.Sentence, c.want), v.Sentence)
			require.Len(t, v.Facts, len(c.facts), v.Facts)
			for i, fact := range c.facts {
				require.True(t, strings.HasPrefix(v.Facts[i], fact), v.Facts[i])
			}
			hasFilters := c.figures.Total.FilterBytes > 0
			require.Equal(t, len(v.Rows) > 2 || len(v.Rows) == 2 && !hasFilters, v.Code != nil)
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
	require.Equal(t, []int64{15, 40, 20}, []int64{f.Keys, f.Bytes, f.Old})
	require.Equal(t, map[string]int{"ribbon": 1, "bloom, ribbon": 1, NoFilter: 1, NoKeys: 1},
		f.Total.Filters)
	require.Equal(t, []int{5, 2, 6, 2},
		[]int{f.Levels[0].Number, f.Levels[0].Tables, f.Levels[1].Number, f.Levels[1].Tables})
}

// The rows have the figures of the sentence, and what the code leads to is in its place.
func TestRows(t *testing.T) {
	v := Of(database{"goleveldb", name1, 121, 121, 4800, 4.9}.figures())
	require.Equal(t, []Row{{"now", 121, true, 1_300_000},
		{"with the code below", 4.9, false, 1_350_000}, {"without filters", 4800, true, 0}}, v.Rows)
	v = Of(database{"pebblev1", name1, 910, 1.3, 912, 1.2}.figures().with(func(f *Figures) {
		f.Old = 0
	}))
	require.Equal(t, Row{"with the code below", 1.3, true, 1_300_000}, v.Rows[1])
	require.Equal(t, []string{`log.Println(pebblev1.Has(db, []byte("key"))) // or pebblev1.Get`}, v.Code)
	v = Of(database{"pebblev2", pebble, 919, 22, 1310, 1.7}.figures().with(func(f *Figures) {
		f.Levels[0].Number = 6
	}))
	require.Equal(t, Row{"now, by Has", 22, true, 1_300_000}, v.Rows[1])
	require.Len(t, v.Rows, 4)
	require.Equal(t, "Pebble's own Get asks no filter in L6, which has 0 of 0 entries.", v.Facts[0])
	require.Len(t, Of(database{"goleveldb", name1, 5, 5, 4800, 4.9}.figures()).Rows, 2, "no code")
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
		code := Of(database{engine, name1, 121, 121, 4800, 4.9}.figures()).Code
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
