package filters

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

const (
	Rounds    = 15      // turns of each contestant
	LeastKeys = 1 << 16 // in a turn: more than a branch predictor can learn
)

// A Speed compares a contestant with the base, which is the first one.
type Speed struct {
	Work       string  `json:"work"`       // build, hit (lookups of present keys), or miss
	N          int     `json:"n"`          // keys per filter
	Contestant string  `json:"contestant"` // filter; '-again' is the base's second turn
	Base       string  `json:"base"`       // filter that it is compared with
	Ns         float64 `json:"ns_per_key"` // nanoseconds per key, the median of the rounds
	Ratio      float64 `json:"ratio"`      // times as fast as the base, the median of the rounds
	Low        float64 `json:"ratio_low"`  // lower end of the ratio's interval of 95 %
	High       float64 `json:"ratio_high"` // upper end of the interval
}

// compare fills in what the nanoseconds per key of each round say.
func (s *Speed) compare(times, base []float64) {
	var ratios []float64
	for round, ns := range times {
		ratios = append(ratios, base[round]/ns)
	}
	slices.Sort(ratios)
	s.Ns, s.Ratio = report.Median(times), report.Median(ratios)
	// A round's ratio is as likely above the true median as below. So of 15, four or more are on
	// each side of it, with a probability of 1 - 2*(1+15+105+455)/2^15 = 96 %.
	s.Low, s.High = ratios[3], ratios[Rounds-4]
}

// CompareSpeeds lets kinds take turns at building filters of n keys and at looking keys up in them,
// for each n. The first kind has two turns in each round. The error is context.Cause if ctx ends,
// or wraps keys.ErrLost; with it come the speeds that were measured before.
func CompareSpeeds(ctx context.Context, kinds []Kind, ns []int, progress report.Progress) (
	speeds []Speed, err error) {
	random := keys.ShapesOf("random")[0] // so their order is random, too
	second := kinds[0]
	second.Name += "-again"
	kinds = slices.Insert(slices.Clone(kinds), 1, second)
	for i, n := range ns {
		progress(i, len(ns), fmt.Sprintf("%d keys per filter", n))
		filters := (LeastKeys + n - 1) / n
		var contestants []contestant
		for _, k := range kinds {
			contestants = append(contestants, contestant{k.Name, k.New(), make([][]byte, filters)})
		}
		all, _ := random.Draw(rand.New(rand.NewPCG(1, 1)), true, 2*filters*n, 0)
		present, absent := all[:filters*n], all[filters*n:]
		for i, ofWork := range [][][]byte{present, present, absent} {
			work := [...]string{"build", "hit", "miss"}[i]
			measured, err := takeTurns(ctx, contestants, work, n, ofWork)
			if err != nil {
				return speeds, err
			}
			speeds = append(speeds, measured...)
		}
	}
	return speeds, nil
}

var now = Now // tests have another clock

// takeTurns lets contestants do a work with all keys, n of them in each filter.
func takeTurns(ctx context.Context, contestants []contestant, work string, n int, all [][]byte) (
	speeds []Speed, err error) {
	runtime.LockOSThread() // its clock is read
	defer runtime.UnlockOSThread()
	times := make([][]float64, len(contestants))
	for range Rounds {
		for _, i := range rand.Perm(len(contestants)) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			contestants[i].do(work, n, all) // untimed
			start := now()
			found := contestants[i].do(work, n, all)
			times[i] = append(times[i], float64(now()-start)/float64(len(all)))
			if work == "hit" && found < len(all) {
				return nil, fmt.Errorf("%s, %d keys: %w", contestants[i].name, n, keys.ErrLost)
			}
		}
	}
	for i, c := range contestants {
		s := Speed{Work: work, N: n, Contestant: c.name, Base: contestants[0].name}
		s.compare(times[i], times[0])
		speeds = append(speeds, s)
	}
	return speeds, nil
}

// A contestant has filters, built by its policy.
type contestant struct {
	name string
	*Policy
	filters [][]byte
}

// do does a work with all keys, and returns how many of them the filters may contain.
func (c *contestant) do(work string, n int, all [][]byte) (found int) {
	for i := range c.filters {
		part := all[i*n : (i+1)*n]
		if work == "build" {
			c.Add(part)
			c.filters[i] = c.Finish(c.filters[i][:0])
		} else {
			found += c.Count(c.filters[i], part)
		}
	}
	return found
}

// ReportSpeeds fills in the speeds, a table and notes.
func ReportSpeeds(r *report.Report, speeds []Speed) {
	r.Records, r.Tables = speeds, []report.Table{SpeedTable(speeds)}
	r.Notes = append(r.Notes, fmt.Sprintf("Filters take turns; these are medians of %d. build: "+
		"add %d or more random keys of 16 bytes, and build filters. hit and miss: look up these "+
		"keys, or as many absent ones. The second turn of %[3]s is the same filter: its distance "+
		"from 1 is noise, as are differences of that size.", Rounds, LeastKeys, speeds[0].Base))
}

// SpeedTable returns a table with a row for each work and number of keys.
func SpeedTable(speeds []Speed) report.Table {
	base := speeds[0].Base
	t := report.Table{Keys: 2, Columns: []string{"work", "keys per filter"},
		Title: fmt.Sprintf("ns per key of %s; for the others, times as fast (above 1 is faster), "+
			"with the interval of 95 %%", base)}
	for _, s := range speeds {
		column, cell := base+", ns", fmt.Sprintf("%.1f", s.Ns)
		if s.Contestant != base {
			column = strings.Replace(s.Contestant, "-", " ", 1)
			cell = fmt.Sprintf("%.2fx ±%.0f%%", s.Ratio, 100*max(s.High/s.Ratio-1, 1-s.Low/s.Ratio))
		}
		t.Set(column, cell, s.Work, fmt.Sprint(s.N))
	}
	return t
}
