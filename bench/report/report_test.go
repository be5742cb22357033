package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/measure"
)

// threeRounds returns a report whose contestants miss at 100, 200 and 300 lookups/s without a filter, at twice that with
// the engine's own, and at four times that with levelbloom.
func threeRounds() *Report {
	e := engine.Engines[0]
	r := &Report{
		Machine:    Machine{CPU: "Testprocessor", Cores: 2, OS: "linux", Arch: "amd64", GoVersion: "go1.0", GoMaxProcs: 2},
		Settings:   []Setting{{"density", "0.63"}, {"shape", "decimal"}},
		SmallCache: 2_500_000, LargeCache: 88_000_000, Lookups: 100,
	}
	contestants := []measure.Contestant{{Engine: e, Filter: engine.None}, {Engine: e, Filter: engine.BuiltIn}, {Engine: e, Filter: engine.LevelBloom}, {Engine: e, Filter: engine.LevelBloom, Again: true}}
	r.Engines = []Engine{{Name: e.Name(), Version: "v9", Contestants: contestants, Reads: []engine.Read{engine.Get}, Bits: []float64{10, 10}}}
	for round := 1; round <= 3; round++ {
		for i, c := range contestants {
			l := measure.Lookups{Read: engine.Get}
			l.SmallCache.Miss = measure.Pass{PerSecond: float64(round * 100_000 * []int{1, 2, 4, 4}[i]), P50: 2500 * time.Nanosecond, P99: 9 * time.Microsecond}
			l.SmallCache.Hit = measure.Pass{PerSecond: 70_000, P50: 3 * time.Microsecond, P99: 11 * time.Microsecond}
			l.LargeCache.Miss = measure.Pass{PerSecond: 900_000, P50: 4 * time.Microsecond, P99: 12 * time.Microsecond}
			l.LargeCache.Hit = measure.Pass{PerSecond: 80_000, P50: 5 * time.Microsecond, P99: 13 * time.Microsecond}
			l.Between, l.Beyond = measure.Answers{Lookups: 100, BlockReads: 900}, measure.Answers{Lookups: 100}
			run := measure.Run{
				Contestant: c, Round: round, Load: measure.Pass{PerSecond: 5000, P50: 1 * time.Microsecond, P99: 10 * time.Microsecond},
				Tables: engine.Tables{Levels: []engine.Level{{Tables: 2, Bytes: 3e6}, {}, {Tables: 4, Bytes: 5e6}}},
			}
			if c.Filter != engine.None {
				l.Between = measure.Answers{Lookups: 100, Checks: 250, Avoided: 240, BlockReads: 660}
				l.Beyond = measure.Answers{Lookups: 100, Checks: 100, Avoided: 99}
				run.Tables.Filters, run.Tables.FilterBytes, run.Tables.FilteredKeys, run.Tables.KeysPerFilter = 10, 1250, 1000, 123
			}
			run.Lookups = []measure.Lookups{l}
			r.Runs = append(r.Runs, run)
		}
	}
	return r
}

// line returns the cells of the table's row after the nth one that begins with label.
func line(t *testing.T, text, label string, nth int) []string {
	for _, l := range strings.Split(text, "\n") {
		cells := strings.Split(l, "│")
		if len(cells) > 2 && strings.HasPrefix(strings.TrimPrefix(cells[1], " "), label) {
			if nth--; nth == 0 {
				for i := range cells {
					cells[i] = strings.TrimSpace(cells[i])
				}
				return cells[2 : len(cells)-1]
			}
		}
	}
	require.Fail(t, "no row "+label, text)
	return nil
}

func TestText(t *testing.T) {
	r := threeRounds()
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b))
	text := b.String()
	require.Contains(t, text, "Testprocessor, 2 cores, linux/amd64, go1.0, GOMAXPROCS 2\n-density=0.63 -shape=decimal ")
	require.Equal(t, []string{"200 [100 to 300]", "400 [200 to 600]", "800 [400 to 1200]", "800 [400 to 1200]"}, line(t, text, "get miss, small", 1))
	require.Equal(t, []string{"1.00", "2.00", "4.00", "4.00"}, line(t, text, "  times no filter", 2))
	for i, want := range []struct{ label, perSecond, p50, p99 string }{
		{"load", "5", "1.0", "10.0"},
		{"get miss, small cache", "400 [200 to 600]", "2.5", "9.0"},
		{"get miss, large cache", "900", "4.0", "12.0"},
		{"get hit, small cache", "70", "3.0", "11.0"},
		{"get hit, large cache", "80", "5.0", "13.0"},
	} {
		require.Equal(t, want.perSecond, line(t, text, want.label, 1)[1])
		require.Equal(t, want.p50, line(t, text, "  p50", i+1)[1])
		require.Equal(t, want.p99, line(t, text, "  p99", i+1)[1])
	}
	require.Equal(t, []string{"", "2.50", "2.50", "2.50"}, line(t, text, "filter checks per get miss", 1))
	require.Equal(t, []string{"", "2.40", "2.40", "2.40"}, line(t, text, "  table reads avoided", 1))
	require.Equal(t, []string{"", "4.00", "4.00", "4.00"}, line(t, text, "  FPR between", 1))
	require.Equal(t, []string{"", "1.00", "1.00", "1.00"}, line(t, text, "  FPR beyond", 1))
	require.Equal(t, []string{"", "0.84", "0.84", "0.84"}, line(t, text, "textbook's FPP", 1))
	require.Equal(t, []string{"", "123", "123", "123"}, line(t, text, "keys per filter", 1))
	require.Equal(t, []string{"", "10", "10", "10"}, line(t, text, "filters", 1))
	require.Equal(t, []string{"", "1.250", "1.250", "1.250"}, line(t, text, "filter bytes per key", 1))
	require.Equal(t, []string{"9.00", "6.60", "6.60", "6.60"}, line(t, text, "  blocks looked up", 1))
	require.Contains(t, text, "a block cache of 2.5 MB")
	require.Contains(t, text, "key shape decimal, density 0.63\n")
	require.Contains(t, text, "L0 2/3.0MB  L2 4/5.0MB\n")
	require.Contains(t, text, `noise, "levelbloom again" against "levelbloom": load +0 % [+0 to +0]`)
	require.NotContains(t, text, "WARNING")
}

func TestWarnings(t *testing.T) {
	r := threeRounds()
	r.Lookups = 200
	r.Engines[0].Bits = []float64{10, 9.5}
	for i := range r.Runs {
		run := &r.Runs[i]
		l := &run.Lookups[0]
		l.Between.Lookups = 200
		switch {
		case run.Contestant.Filter == engine.None && run.Round == 1:
			l.Between.Lookups = 150
		case run.Contestant.Filter == engine.BuiltIn && run.Round != 2:
			l.Between.Checks, l.Beyond.Checks = 0, 0
		case run.Contestant.Filter == engine.BuiltIn:
			l.Between.Checks = 100
		case run.Contestant.Again && run.Round == 3: // a level more
			run.Tables.Levels = []engine.Level{{Tables: 2, Bytes: 3e6}, {Tables: 1, Bytes: 1e5}, {Tables: 4, Bytes: 5e6}}
		case run.Contestant.Again && run.Round == 2: // more bytes
			run.Tables.Levels = []engine.Level{{Tables: 2, Bytes: 4e6}, {}, {Tables: 4, Bytes: 5e6}}
		case run.Contestant.Again: // a table more in L0
			run.Tables.Levels = []engine.Level{{Tables: 3, Bytes: 3e6}, {}, {Tables: 4, Bytes: 5e6}}
		case run.Contestant.Filter == engine.LevelBloom && run.Round == 1: // within the tolerance
			run.Tables.Levels = []engine.Level{{Tables: 2, Bytes: 3.1e6}, {}, {Tables: 5, Bytes: 5e6}}
		case run.Contestant.Filter == engine.LevelBloom && run.Round == 2: // only by its filters
			run.Tables.Levels = []engine.Level{{Tables: 2, Bytes: 5e6, FilterBytes: 2e6}, {}, {Tables: 4, Bytes: 5e6}}
		}
	}
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b))
	var warnings []string
	for _, l := range strings.Split(b.String(), "\n") {
		if w, ok := strings.CutPrefix(l, "WARNING: "); ok {
			warnings = append(warnings, w)
		}
	}
	want := []string{
		"the engine's own filter takes whole bits per key: builtin has 10, levelbloom 9.5",
		"none, round 1: get: only 150 absent keys lie between the present ones, and the 200 timed misses repeat them",
		"builtin, round 1, 3: get: NO FILTER WAS EVER ASKED for absent keys between",
		"builtin, round 1, 3: get: NO FILTER WAS EVER ASKED for absent keys beyond",
		"builtin, round 1, 3: get: its filters were asked 0 times, those of levelbloom again 250 times",
		"builtin, round 2: get: its filters were asked 100 times, those of levelbloom again 250 times",
		"levelbloom again, round 1: another tree than none has (L0 has 3 tables, 3.0 MB against 2, 3.0 MB)",
		"levelbloom again, round 2: another tree than none has (L0 has 2 tables, 4.0 MB against 2, 3.0 MB)",
		"levelbloom again, round 3: another tree than none has (L1 has 1 tables, 0.1 MB against 0, 0.0 MB)",
	}
	require.Len(t, warnings, len(want), strings.Join(warnings, "\n"))
	for i := range want {
		require.True(t, strings.HasPrefix(warnings[i], want[i]), "%s\n%s", want[i], warnings[i])
	}
	// Trees that differ from round to round are all shown.
	require.Equal(t, 3, strings.Count(b.String(), "level, levelbloom again:"))
	require.Equal(t, 1, strings.Count(b.String(), "level, none:"))
}

// What engine.Fuse wrote shows in its columns, and a warning if it is mostly not binary fuse. The textbook knows no such filter.
func TestFuse(t *testing.T) {
	write := func(fuseChecks int64) string {
		r := threeRounds()
		for i := range r.Engines[0].Contestants[2:] {
			r.Engines[0].Contestants[2+i].Filter = engine.Fuse
		}
		for i := range r.Runs {
			if run := &r.Runs[i]; run.Contestant.Filter == engine.LevelBloom {
				run.Contestant.Filter = engine.Fuse
				run.Lookups[0].Between.Fuse = fuseChecks
			}
		}
		var b bytes.Buffer
		require.NoError(t, r.WriteText(&b))
		return b.String()
	}
	text := write(125) // of 250
	require.Equal(t, []string{"", "", "50", "50"}, line(t, text, "  of binary fuse filters, %", 1))
	require.Equal(t, []string{"", "0.84", "", ""}, line(t, text, "textbook's FPP", 1))
	require.NotContains(t, text, "WARNING")
	text = write(120)
	require.Contains(t, text, "WARNING: fuse, round 1, 2, 3: get: 48 % of the filters that were asked are binary fuse;")
	require.NotContains(t, text, "WARNING: builtin")
}

func TestFiles(t *testing.T) {
	r := threeRounds()
	var b bytes.Buffer
	require.NoError(t, r.WriteJSON(&b))
	var decoded struct {
		Machine  map[string]any
		Versions map[string]string
		Settings map[string]string
		Runs     []map[string]any
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &decoded))
	require.Equal(t, "Testprocessor", decoded.Machine["cpu"])
	require.Equal(t, map[string]string{"goleveldb": "v9"}, decoded.Versions)
	require.Equal(t, map[string]string{"density": "0.63", "shape": "decimal"}, decoded.Settings)
	require.Len(t, decoded.Runs, 12)
	require.Equal(t, 10.0, decoded.Runs[2]["between_false_positives"])

	b.Reset()
	require.NoError(t, r.WriteCSV(&b))
	lines, err := csv.NewReader(&b).ReadAll() // which refuses lines of different lengths
	require.NoError(t, err)
	require.Len(t, lines, 13)
	cells := map[string]string{}
	for i, name := range lines[0] {
		cells[name] = lines[3][i]
	}
	for name, want := range map[string]string{
		"engine": "goleveldb", "filter": "levelbloom", "again": "false", "round": "1", "small_cache_miss_per_s": "400000",
		"small_cache_miss_p50_ns": "2500", "between_checks": "250", "between_reads_avoided": "240", "beyond_false_positives": "1",
		"load_put_p99_ns": "10000", "large_cache_hit_p50_ns": "5000", "small_cache_hit_per_s": "70000", "keys_per_filter": "123",
		"filter_bytes": "1250", "version": "v9", "levels": "L0 2/3.0MB  L2 4/5.0MB", "cpu": "Testprocessor", "setting_shape": "decimal",
	} {
		require.Equal(t, want, cells[name], name)
	}
}

// The textbook's figure is for one setting; with several there is none.
func TestBitsThatDiffer(t *testing.T) {
	// In the table, builtin's figure comes from its own bits.
	r := threeRounds()
	r.Engines[0].Bits = []float64{9.5}
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b))
	require.Equal(t, []string{"", "0.84", "1.05", "1.05"}, line(t, b.String(), "textbook's FPP", 1)) // (1-e^(-6/b))^6 for 10 and 9.5

	e := Engine{Bits: []float64{9.5, 9.5}}
	bits, ok := e.bitsOf(engine.LevelBloom)
	require.True(t, ok)
	require.Equal(t, 9.5, bits)
	bits, ok = e.bitsOf(engine.BuiltIn)
	require.True(t, ok)
	require.Equal(t, 10.0, bits)
	_, ok = e.bitsOf(engine.None)
	require.False(t, ok)
	e.Bits = []float64{10, 16}
	_, ok = e.bitsOf(engine.LevelBloom)
	require.False(t, ok)
	require.InDelta(t, 0.0084, textbookFPP(10), 0.0001) // the figure of textbooks for 10 bits and 6 probes
}
