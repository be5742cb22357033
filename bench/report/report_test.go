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
		Machine:  Machine{CPU: "Testprocessor", Cores: 2, OS: "linux", Arch: "amd64", GoVersion: "go1.0", GoMaxProcs: 2},
		Settings: []Setting{{"density", "0.63"}, {"shape", "decimal"}},
		BitsUsed: BitsUsed{BuiltIn: 10, LevelBloom: 10},
	}
	contestants := []measure.Contestant{{Engine: e, Filter: engine.None}, {Engine: e, Filter: engine.BuiltIn}, {Engine: e, Filter: engine.LevelBloom}, {Engine: e, Filter: engine.LevelBloom, Again: true}}
	r.Engines = []Engine{{Name: e.Name(), Version: "v9", Contestants: contestants}}
	for round := 1; round <= 3; round++ {
		for i, c := range contestants {
			run := measure.Run{
				Contestant: c, Round: round, LoadPerSecond: 5000,
				Miss:   measure.Pass{PerSecond: float64(round * 100_000 * []int{1, 2, 4, 4}[i]), P50: 2500 * time.Nanosecond, P99: 9 * time.Microsecond},
				Hit:    measure.Pass{PerSecond: 70_000, P50: time.Microsecond, P99: time.Microsecond},
				Tables: engine.Tables{Levels: []engine.Level{{Tables: 2, Bytes: 3e6}, {}, {Tables: 4, Bytes: 5e6}}},
			}
			if c.Filter != engine.None {
				run.Between = measure.Answers{Lookups: 100, Checks: 250, Avoided: 240}
				run.Beyond = measure.Answers{Lookups: 100, Checks: 100, Avoided: 99}
				run.Tables.Filters, run.Tables.FilterBytes, run.Tables.FilteredKeys = 10, 1250, 1000
			}
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
	require.Equal(t, []string{"200 [100 to 300]", "400 [200 to 600]", "800 [400 to 1200]", "800 [400 to 1200]"}, line(t, text, "miss, thousand", 1))
	require.Equal(t, []string{"1.00", "2.00", "4.00", "4.00"}, line(t, text, "  times no filter", 2))
	require.Equal(t, []string{"2.5", "2.5", "2.5", "2.5"}, line(t, text, "  p50", 1))
	require.Equal(t, []string{"", "2.50", "2.50", "2.50"}, line(t, text, "filter checks per miss", 1))
	require.Equal(t, []string{"", "2.40", "2.40", "2.40"}, line(t, text, "table reads avoided per miss", 1))
	require.Equal(t, []string{"", "4.00", "4.00", "4.00"}, line(t, text, "FPR between", 1))
	require.Equal(t, []string{"", "1.00", "1.00", "1.00"}, line(t, text, "FPR beyond", 1))
	require.Equal(t, []string{"", "0.84", "0.84", "0.84"}, line(t, text, "  textbook's FPP", 1))
	require.Equal(t, []string{"", "100", "100", "100"}, line(t, text, "keys per filter", 1))
	require.Equal(t, []string{"", "1.25", "1.25", "1.25"}, line(t, text, "filter bytes per key", 1))
	require.Contains(t, text, "key shape decimal, density 0.63\n")
	require.Contains(t, text, "L0 2/3.0MB  L2 4/5.0MB\n")
	require.Contains(t, text, `noise, "levelbloom again" against "levelbloom": load +0 % [+0 to +0]`)
	require.NotContains(t, text, "WARNING")
}

func TestWarnings(t *testing.T) {
	r := threeRounds()
	r.BitsUsed = BitsUsed{BuiltIn: 10, LevelBloom: 9.5}
	for i := range r.Runs {
		switch run := &r.Runs[i]; {
		case run.Contestant.Filter == engine.BuiltIn && run.Round != 2:
			run.Between, run.Beyond = measure.Answers{Lookups: 100}, measure.Answers{Lookups: 100}
		case run.Contestant.Again && run.Round == 3:
			run.Tables.Levels = []engine.Level{{Tables: 2, Bytes: 3e6}, {Tables: 1, Bytes: 1e5}, {Tables: 4, Bytes: 5e6}}
		case run.Contestant.Again && run.Round == 2:
			run.Tables.Levels = []engine.Level{{Tables: 3, Bytes: 4e6}, {}, {Tables: 4, Bytes: 5e6}}
		case run.Contestant.Again: // within the tolerance
			run.Tables.Levels = []engine.Level{{Tables: 2, Bytes: 3.1e6}, {}, {Tables: 4, Bytes: 5e6}}
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
	require.Len(t, warnings, 5)
	require.Contains(t, warnings[0], "takes whole bits per key: builtin has 10, levelbloom 9.5")
	require.Contains(t, warnings[1], "builtin, round 1, 3: NO FILTER WAS EVER ASKED for absent keys between")
	require.Contains(t, warnings[2], "builtin, round 1, 3: NO FILTER WAS EVER ASKED for absent keys beyond")
	require.Contains(t, warnings[3], "levelbloom again, round 2: another tree than none has (L0 has 3 tables, 4.0 MB against 2, 3.0 MB)")
	require.Contains(t, warnings[4], "levelbloom again, round 3: another tree than none has (L1 has 1 tables, 0.1 MB against 0, 0.0 MB)")
}

func TestFiles(t *testing.T) {
	r := threeRounds()
	var b bytes.Buffer
	require.NoError(t, r.WriteJSON(&b))
	var decoded struct {
		Machine  map[string]any
		Engines  map[string]string
		Settings map[string]string
		Runs     []map[string]any
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &decoded))
	require.Equal(t, "Testprocessor", decoded.Machine["cpu"])
	require.Equal(t, map[string]string{"goleveldb": "v9"}, decoded.Engines)
	require.Equal(t, map[string]string{"density": "0.63", "shape": "decimal"}, decoded.Settings)
	require.Len(t, decoded.Runs, 12)
	require.Equal(t, 10.0, decoded.Runs[2]["between"].(map[string]any)["false_positives"])

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
		"engine": "goleveldb", "filter": "levelbloom", "again": "false", "round": "1", "miss_lookups_per_s": "400000",
		"miss_p50_ns": "2500", "between_checks": "250", "between_reads_avoided": "240", "beyond_false_positives": "1",
		"filter_bytes": "1250", "engine_version": "v9", "cpu": "Testprocessor", "setting_shape": "decimal",
	} {
		require.Equal(t, want, cells[name], name)
	}
}
