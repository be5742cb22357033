package levelbench

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/report"
)

// threeRounds returns a report of runs with 1,000 misses, 100 hits, 400 overwrites and 500 inserts. In round 1 all of them
// take 10 ms and 20 ms of CPU, and in rounds 2 and 3 twice and three times as long; fuse takes half of that, and none twice as
// long.
func threeRounds(t *testing.T) *Report {
	c := &Config{}
	for _, name := range []string{"blocked", "blocked/fuse", "exact", "none"} {
		plan, err := ParsePlan(name, 4)
		require.NoError(t, err)
		c.Plans = append(c.Plans, plan)
	}
	r := &Report{
		Machine:  report.Machine{CPU: "Testprocessor", Cores: 2, OS: "linux", Arch: "amd64", GoVersion: "go1.0", GoMaxProcs: 2},
		Settings: []report.Setting{{Name: "bits", Value: "11"}, {Name: "seed", Value: "7"}},
		Version:  "v9", Plans: c.Contestants(), Split: 4,
	}
	r.Counts = Counts{miss: 1000, hit: 100, overwrite: 400, insert: 500}
	for round := 1; round <= 3; round++ {
		for _, p := range r.Plans {
			speed := map[string]float64{"blocked/fuse": 0.5, "none": 2}[p.Name]
			if speed == 0 {
				speed = 1
			}
			run := Run{
				Plan: p.Name, Round: round,
				Time:   time.Duration(speed * float64(round) * float64(10*time.Millisecond)),
				CPU:    time.Duration(speed * float64(round) * float64(20*time.Millisecond)),
				Lookup: Latency{P50: 2500 * time.Nanosecond, P99: 9 * time.Microsecond},
				Tables: engine.Tables{Levels: []engine.Level{{Tables: 2, Bytes: 3e6}, {}, {Tables: 4, Bytes: 5e6}}, FilterBytes: 1250, FilteredKeys: 1000},
				Moved:  3,
			}
			switch p.Name {
			case "none":
				run.Tables.FilterBytes, run.Tables.FilteredKeys = 0, 0
			default:
				run.Levels[0] = Level{
					Absent: Answers{Checks: 1000, Avoided: 990}, Present: Answers{Checks: 100, Avoided: 90},
					Built: Built{Filters: 2, Keys: 900, Bytes: 1800, Times: []float64{5, 7}, Written: map[string]int64{"blocked": 900}},
				}
				run.Levels[5] = Level{
					Absent: Answers{Checks: 500, Avoided: 490}, Present: Answers{Checks: 100, Avoided: 10},
					Built: Built{Filters: 1, Keys: 1800, Bytes: 3600, Times: []float64{10}, Written: map[string]int64{"blocked": 1800}},
				}
			}
			switch p.Name {
			case "blocked/fuse":
				l := &run.Levels[5]
				l.Absent.Avoided = 495
				l.Built.Times = []float64{30}
				l.Built.Written = map[string]int64{"fuse 8": 1350, "blocked": 450}
			case "exact":
				run.Levels[0].Absent.Avoided, run.Levels[0].Built.Times = 980, []float64{2, 2} // quicker to make, more false positives
				run.Levels[5].Absent.Avoided, run.Levels[5].Built.Times = 480, []float64{20}   // neither
			}
			r.Runs = append(r.Runs, run)
		}
	}
	return r
}

// rows returns the cells of the table's rows that begin with the given ones.
func rows(text string, begin ...string) (found [][]string) {
	for _, line := range strings.Split(text, "\n") {
		cells := strings.Split(line, "│")
		if len(cells) < len(begin)+2 {
			continue
		}
		cells = cells[1 : len(cells)-1]
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if strings.Join(cells[:len(begin)], "|") == strings.Join(begin, "|") {
			found = append(found, cells[len(begin):])
		}
	}
	return found
}

func TestText(t *testing.T) {
	r := threeRounds(t)
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b))
	text := b.String()
	require.Contains(t, text, "Testprocessor, 2 cores, linux/amd64, go1.0, GOMAXPROCS 2\n-bits=11 -seed=7 \npebblev2 v9\n")

	// 2,000 operations in 20 ms and 40 ms of CPU; 900 keys at 6 ns and 1,800 at 10 of the latter; 20 false positives in 1,500 checks.
	blocked := []string{"100.0", "1.00", "20.00", "1.00", "0.06", "2.5", "9.0", "1.50", "1.333", "3.00", "1.250"}
	require.Equal(t, blocked, rows(text, "blocked")[0])
	require.Equal(t, blocked, rows(text, "blocked again")[0])
	require.Equal(t, []string{"200.0", "2.00", "10.00", "0.50", "0.30", "2.5", "9.0", "1.50", "1.000", "3.00", "1.250"}, rows(text, "blocked/fuse")[0])
	require.Equal(t, []string{"50.0", "0.50", "40.00", "2.00", "", "2.5", "9.0", "", "", "", ""}, rows(text, "none")[0])

	require.Equal(t, [][]string{{"2", "1", "450", "blocked", "2.000", "6.0", "1.00", "0.99", "1.000", "1.22", ""}}, rows(text, "blocked", "L0"))
	require.Equal(t, [][]string{{"1", "2", "1800", "blocked", "2.000", "10.0", "0.50", "0.49", "2.000", "0.33", ""}}, rows(text, "blocked", "L5"))
	require.Equal(t, [][]string{{"2", "1", "450", "blocked", "2.000", "6.0", "1.00", "0.99", "1.000", "1.22", ""}}, rows(text, "blocked/fuse", "L0"))
	// 20 ns more per key, for 1 % fewer false positives in (500 + 10)/1,800 checks per key.
	require.Equal(t, [][]string{{"1", "2", "1800", "fuse 8: 75.0 %, blocked: 25.0 %", "2.000", "30.0", "0.50", "0.49", "1.000", "0.33", "from 7.1"}}, rows(text, "blocked/fuse", "L5"))
	// 4 ns less per key, for 1 % more false positives in (1,000 + 90)/900 checks per key.
	require.Equal(t, "up to 0.3", rows(text, "exact", "L0")[0][10])
	require.Equal(t, "never", rows(text, "exact", "L5")[0][10])
	require.Empty(t, rows(text, "none", "L0"))
	require.Empty(t, rows(text, "blocked again", "L0"))
	require.Empty(t, rows(text, "blocked", "L3"))

	require.Contains(t, text, "blocked/fuse:    L0 2/3.0MB  L2 4/5.0MB, 3 tables moved\n")
	// In the second round 20 ms more, and 40 of CPU, for 1,580 reads avoided.
	require.Contains(t, text, "a read that blocked's filters avoid saves, in µs of time: 12.7 [6.3 to 19.0]\n")
	require.Contains(t, text, "a read that blocked's filters avoid saves, in µs of CPU time: 25.3 [12.7 to 38.0]\n")
	require.Contains(t, text, "1000 lookups of absent keys that lie between\nthe present ones (misses), 100 of keys that were loaded (hits), and stores 400 of the loaded keys again and 500 new ones")
	require.Contains(t, text, "one for L0 to L3 and, behind the slash, one for L4 to L6.\n")
	require.NotContains(t, text, "WARNING")
	require.NotContains(t, text, "NaN")
	require.NotContains(t, text, "%!")
}

// Ratios are between runs of the same round, and show their range.
func TestRatios(t *testing.T) {
	r := threeRounds(t)
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Plan == "exact" && run.Round == 3 {
			run.Time /= 2
		}
	}
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b))
	require.Equal(t, "1.00 [1.00 to 2.00]", rows(b.String(), "exact")[0][1])
}

// Without CPU times, or a plan without filters, what depends on them is left out.
func TestWithoutCPUTime(t *testing.T) {
	r := threeRounds(t)
	for i := range r.Runs {
		r.Runs[i].CPU = 0
	}
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b))
	require.Equal(t, []string{"", "", ""}, rows(b.String(), "blocked")[0][2:5])
	require.Contains(t, b.String(), "in µs of time: ")
	require.NotContains(t, b.String(), "in µs of CPU time: ")
	require.NotContains(t, b.String(), "NaN")

	r.Plans = r.Plans[:4]
	b.Reset()
	require.NoError(t, r.WriteText(&b))
	require.NotContains(t, b.String(), "avoid saves")
}

func TestNoFilterAskedIsSaid(t *testing.T) {
	r := threeRounds(t)
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Plan == "exact" && run.Round == 2 {
			run.Levels = [engine.NumLevels]Level{}
		}
	}
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b))
	require.Equal(t, 1, strings.Count(b.String(), "WARNING"))
	require.Contains(t, b.String(), "WARNING: exact: NO FILTER WAS EVER ASKED")
}
