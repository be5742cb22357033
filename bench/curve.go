package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/levelbloom/levelbloom/bench/internal/curvebench"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// curveFlags is the flags of `bench curve`.
type curveFlags struct {
	*flags
	views, filters, shape, density, n, fills, atBits, atKeys string
	bits, target                                             float64
	runs, queries                                            int
	seed                                                     int64
}

func newCurveFlags() *curveFlags {
	f := &curveFlags{flags: newFlags("curve", "Measures how false-positive rates depend on the "+
		"fill of a filter, on bits per key, and on keys per filter, beside the textbook's rates "+
		"and predicted ones. With -svg it draws them.")}
	f.StringVar(&f.views, "against", join(curvebench.Views, itself), "`what` to measure against: "+
		"fill (filters that are sized for -n keys, with fewer and with more), bits (per key), or "+
		"n (filters that are sized for their keys). Tuned and ribbon filters are not measured "+
		"against fill: each is made for the keys that it is built of")
	f.StringVar(&f.filters, "filters", join(kind.All, kind.Name), "`kinds` of filter to measure")
	f.StringVar(&f.shape, "shape", "random", "`shape` of the keys: "+
		spaced(join(keys.All, keys.ShapeName)))
	f.StringVar(&f.density, "density", "63%", "`part` of a range of keys that is present: "+
		spaced(join(keys.Densities, keys.DensityName))+". Shapes of programs have their own")
	f.keysFlag("Without -n and -at-n, filters have at most as many keys as there are")
	f.StringVar(&f.n, "n", "10k", "`keys` that filters are sized for, against fill and bits")
	f.Float64Var(&f.bits, "bits", 10, "`bits` per key, against fill and n")
	f.StringVar(&f.fills, "at-fill",
		"0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1,1.1,1.2,1.3,1.4,1.5",
		"`parts` of -n to fill filters with")
	f.StringVar(&f.atBits, "at-bits", "4,6,8,10,12,14,16,18,20", "`bits` per key to measure at")
	f.StringVar(&f.atKeys, "at-n", "10,30,100,300,1k,3k,10k,30k,100k,300k",
		"`keys` per filter to measure at")
	f.rateFlag(&f.target, "target", 0.01, "`rate` to draw as a line")
	f.IntVar(&f.runs, "runs", 10, "`runs`, each with other keys")
	f.IntVar(&f.queries, "queries", 200_000, "absent `keys` to ask in each run, for each point")
	f.Int64Var(&f.seed, "seed", 1, "`seed` of the keys; the same seed gives the same rates")
	f.quickFlag("3 runs, up to 10,000 keys", map[string]string{"n": "1k", "runs": "3",
		"at-n": "10,100,1k,10k", "at-bits": "5,10,15,20", "queries": "20000"})
	f.StringVar(&f.outputs.svg.path, "svg", "", "`file` to write as SVG")
	return f
}

// config checks the flags and returns what they ask for.
func (f *curveFlags) config() (c curvebench.Config, err error) {
	c = curvebench.Config{
		Bits: f.bits, Runs: f.runs, Queries: f.queries, Target: f.target, Seed: f.seed,
	}
	if f.runs < 1 || f.runs > 1000 || f.queries < 1 || f.queries > 100_000_000 {
		return c, fmt.Errorf("-runs %d, -queries %d: pass 1 to 1000, and 1 to 100000000", f.runs,
			f.queries)
	}
	if !(f.target > 0 && f.target < 1) {
		return c, fmt.Errorf("-target %v: pass a rate above 0 and below 1, such as 0.01 or 1%%", f.target)
	}
	if c.Views, err = choose("against", f.views, curvebench.Views, itself); err != nil {
		return c, err
	}
	if c.Kinds, err = choose("filters", f.filters, kind.All, kind.Name); err != nil {
		return c, err
	}
	if c.Fills, err = ascending("at-fill", f.fills, 0, 100); err != nil {
		return c, err
	}
	if c.AtBits, err = ascending("at-bits", f.atBits, 0, 1000); err != nil {
		return c, err
	}
	for _, k := range c.Kinds {
		for _, bits := range append(c.AtBits, c.Bits) {
			if _, err := k.New(bits); err != nil {
				return c, fmt.Errorf("%s: %w", k.Name, err)
			}
		}
	}
	if c.N, err = keys.ParsePerFilter(f.n); err != nil {
		return c, fmt.Errorf("-n: %w", err)
	}
	if c.AtKeys, err = parseList("at-n", f.atKeys, keys.ParsePerFilter); err != nil {
		return c, err
	}
	slices.Sort(c.AtKeys)
	return c, f.keys(&c)
}

// keys sets the shape of the keys, and adapts their numbers to the user's own keys.
func (f *curveFlags) keys(c *curvebench.Config) error {
	own, err := f.ownKeys()
	if err != nil {
		return err
	}
	c.Shape, c.Density, err = f.oneShape(own, f.shape, f.density)
	if own == nil || err != nil {
		return err
	}
	fullest := max(1, c.Fills[len(c.Fills)-1])
	if !f.given["n"] {
		c.N = max(1, min(c.N, int(float64(own.Most(0))/fullest)))
		f.n = keys.FormatN(c.N)
	}
	if err := own.Fits(int(fullest*float64(c.N)+0.5), 0); err != nil {
		return fmt.Errorf("-keys: %w", err)
	}
	c.AtKeys, err = f.fitting(own, c.AtKeys, "at-n")
	return err
}

// ascending returns the numbers in a list, sorted.
func ascending(flag, list string, above, most float64) ([]float64, error) {
	numbers, err := parseList(flag, list, func(s string) (float64, error) {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || !(x > above && x <= most) {
			return 0, fmt.Errorf("%q: pass a number above %v, at most %v", s, above, most)
		}
		return x, nil
	})
	slices.Sort(numbers)
	return numbers, err
}

// curve is the subcommand that measures rates against one thing at a time.
func curve(ctx context.Context, args []string, stdout io.Writer) error {
	f := newCurveFlags()
	config, err := prepare(f.flags, args, stdout, f.config)
	if err != nil {
		return err
	}
	config.Progress = report.ProgressOf(ctx, os.Stderr)
	records, err := config.Run(ctx)
	r := f.report()
	config.Report(r, records)
	return f.outputs.finish(r, stdout, err)
}
