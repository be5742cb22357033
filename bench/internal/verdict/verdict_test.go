package verdict

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
)

const (
	keep = "Keep what you have: no other filter saves you many reads."
	many = 1_000_000 // keys
)

// outcome is 1,000 misses that consult 4,000 filters, of which some are false positives, and that
// read 900 blocks without filters in L6.
func outcome(t *testing.T, name string, own, best, small int64) *enginebench.Outcome {
	positives := map[string]int64{engine.None: 4000, engine.BuiltIn: own, engine.RibbonSmall: small,
		engine.RibbonL6: best, "ribbon": best}
	o := &enginebench.Outcome{Config: &enginebench.Config{Bits: 10}}
	for _, e := range engine.Engines {
		if e.Name == name {
			o.Engines = []engine.Engine{e}
		}
	}
	require.Len(t, o.Engines, 1)
	for _, filter := range []string{engine.None, engine.BuiltIn, engine.RibbonSmall, engine.RibbonL6,
		"ribbon"} {
		o.Filters = append(o.Filters, filter)
		r := enginebench.Run{Engine: name, Contestant: filter, BetweenLookups: 1000,
			BetweenReads: 900, FilterBytes: 1250, Keys: 1000}
		switch filter {
		case engine.None:
			r.FilterBytes = 0
		case engine.RibbonSmall:
			r.FilterBytes = 875
		case engine.RibbonL6:
			r.BetweenReads = 0 // the blocks of false positives are cached by then
		}
		if filter != engine.None {
			r.BetweenChecks, r.BetweenAvoided = 4000, 4000-positives[filter]
		}
		if filter != engine.RibbonL6 || o.Engines[0].L6 {
			o.Runs = append(o.Runs, r)
		}
	}
	return o
}

func only(t *testing.T, o *enginebench.Outcome, keys int) Verdict {
	all := Of(o, keys)
	require.Len(t, all, 1)
	require.NotEmpty(t, all[0].Pictures)
	all[0].Pictures = nil
	return all[0]
}

// A change is advised only if it is beyond the noise and worth a reader's time. Without one there is
// no code.
func TestKeepOrChange(t *testing.T) {
	// 9 fewer of 1,000 misses are not worth a change; 10 are.
	v := only(t, outcome(t, "goleveldb", 9, 0, 500), many)
	require.Equal(t, Verdict{About: "goleveldb", Sentence: keep}, v)
	v = only(t, outcome(t, "goleveldb", 10, 0, 500), many)
	require.Equal(t, "Use ribbon filters instead of goleveldb's own filters: 0 [0 to 3.8] needless "+
		"reads per 1,000 misses (simulated), not 10 [5.4 to 18].", v.Sentence)
	require.Equal(t, []string{"p, err := policy.NewRibbon(10)",
		"err = goleveldb.Configure(options, p)"}, v.Code)
	text := strings.Join(Lines([]Verdict{v}), "\n")
	require.Contains(t, text, "If a read takes 100 us, a miss takes 1.0 [0.16 to 1.8] us less.")
	require.Contains(t, text, "policy.NewBloom(10, policy.WithName(policy.NameGoLevelDB)).\n")
	require.True(t, strings.HasSuffix(text, "\n    err = goleveldb.Configure(options, p)"))

	// Intervals that overlap are noise.
	o := outcome(t, "goleveldb", 4, 1, 500)
	for i := range o.Runs {
		o.Runs[i].BetweenLookups = 20
	}
	require.Equal(t, keep, only(t, o, many).Sentence)
}

func TestFewKeys(t *testing.T) {
	v := only(t, outcome(t, "goleveldb", 400, 0, 500), 200)
	require.Equal(t, Verdict{About: "goleveldb",
		Sentence: "Too few keys (200): any filter does."}, v)
	v = only(t, outcome(t, "goleveldb", 400, 0, 500), few)
	require.NotEmpty(t, v.Code)
}

// Owners of Pebble read of L6, and nothing about goleveldb.
func TestPebble(t *testing.T) {
	v := only(t, outcome(t, "pebblev2", 40, 4, 36), many)
	text := strings.Join(Lines([]Verdict{v}), "\n")
	require.Contains(t, text, "4.0 [1.6 to 10] reads per 1,000 misses (simulated), not 900 [843 to "+
		"961]. If a read takes 100 us, a miss takes 90 [")
	require.Contains(t, text, "Has does, and never reads more.")
	require.NotContains(t, text, "oleveldb")
	require.NotContains(t, text, "NameGoLevelDB")
	require.Equal(t, []string{"p, err := policy.NewRibbon(10)",
		"err = pebblev2.Configure(options, p, pebblev2.WithL6(p))",
		"found, err := pebblev2.Has(db, key)"}, v.Code)

	o := outcome(t, "pebblev2", 40, 4, 36)
	for i := range o.Runs {
		o.Runs[i].BetweenReads = 5 // L6 is small
	}
	v = only(t, o, many)
	require.Contains(t, v.Sentence, "Use ribbon filters instead of Pebble v2's own filters: ")
	require.Equal(t, "err = pebblev2.Configure(options, p)", v.Code[1])
}

// There is no verdict unless all filters that it compares were counted.
func TestNoVerdict(t *testing.T) {
	o := outcome(t, "pebblev2", 400, 4, 36)
	all := o.Runs
	for filters, want := range map[string]string{
		"none":                       "Pebble v2's own filters and ribbon filters and filters in L6 were",
		"none builtin":               "ribbon filters and filters in L6 were",
		"none builtin ribbon":        "filters in L6 were",
		"none ribbon ribbon+L6":      "Pebble v2's own filters were",
		"builtin ribbon ribbon+L6":   "",
		"builtin ribbon:7 ribbon+L6": "ribbon filters were",
	} {
		o.Runs = nil
		for _, r := range all {
			if strings.Contains(" "+filters+" ", " "+r.Contestant+" ") {
				o.Runs = append(o.Runs, r)
			}
			r.Round = 1 // what is only timed is not counted
			o.Runs = append(o.Runs, r)
		}
		v := only(t, o, many)
		if want == "" {
			require.NotContains(t, v.Sentence, "No verdict")
			continue
		}
		require.Equal(t, "No verdict: "+want+" not measured.", v.Sentence)
		require.Empty(t, v.Code)
		require.Empty(t, v.Facts)
	}

	// Filters in L6 that nobody asked for are not compared.
	o.Runs, o.Filters = []enginebench.Run{all[1], all[4]}, []string{engine.BuiltIn, "ribbon"}
	require.Contains(t, only(t, o, many).Sentence, "Use ribbon filters instead of")

	// Filters that no lookup consulted say nothing.
	o.Runs[0].BetweenChecks, o.Runs[0].BetweenAvoided = 0, 0
	require.Contains(t, only(t, o, many).Sentence, "No verdict: Pebble v2's own filters were not")
}

// The picture has a bar for the reads with each filter, which only the counted runs say.
func TestPictures(t *testing.T) {
	o := outcome(t, "pebblev2", 40, 4, 36)
	timed := o.Runs[0]
	timed.Round = 1
	o.Runs = append(o.Runs, timed)
	p := Of(o, many)[0].Pictures
	require.Len(t, p, 1)
	require.Len(t, p[0].Rows, 5)
	require.Equal(t, Row{engine.RibbonL6, []Bar{{4, "4.0"}}}, p[0].Rows[3])
	require.Equal(t, "1.0000", p[0].Part(p[0].Rows[0].Bars[0]))
	require.Equal(t, "0.0044", p[0].Part(p[0].Rows[3].Bars[0]))
	require.Equal(t, "0", Picture{}.Part(Bar{}))
	o.Runs = nil
	require.Empty(t, Of(o, many)[0].Pictures)
}
