package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/progress"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
)

// rateFlags is the flags of `bench rates`.
type rateFlags struct {
	*flags
	filters, shapes, densities, ns, bits string
	error                                float64
	queries                              int
	seed                                 int64
	quick                                bool
}

func newRateFlags() *rateFlags {
	f := &rateFlags{flags: newFlags("rates", "Measures false-positive rates, and whether they "+
		"keep the "+
		"bounds that the kinds of filter promise. Add filters of 10M keys with -n 10M: they take "+
		"3 GB of "+
		"memory and long.")}
	f.StringVar(&f.filters, "filters", join(kind.All, kind.Name), "`kinds` of filter to measure")
	f.StringVar(&f.shapes, "shapes", join(keys.Shapes, keys.ShapeName), "`shapes` of the keys")
	f.StringVar(&f.densities, "densities", join(keys.Densities, keys.DensityName),
		"`densities`: the part of a range that is present; beyond is all, and absent keys follow")
	f.StringVar(&f.ns, "n", "8,20,36,51,100,500,1000,10k,100k,1M", "`keys` per filter")
	f.StringVar(&f.bits, "bits", "10,16,20", "`bits` per key")
	f.Float64Var(&f.error, "error", 2, "`per cent` of a rate that its standard error should be")
	f.IntVar(&f.queries, "queries", 2_500_000, "absent `keys` that a cell asks at most")
	f.Int64Var(&f.seed, "seed", 1, "`seed` of the keys; the same seed gives the same rates")
	f.BoolVar(&f.quick, "quick", false, "a short run, too small for conclusions: 20 and 1000 keys")
	return f
}

// config checks the flags and returns what they ask for.
func (f *rateFlags) config() (c ratebench.Config, err error) {
	c = ratebench.Config{Error: f.error / 100, Queries: f.queries, Seed: f.seed}
	if !(f.error > 0) { // a NaN fails every comparison
		return c, fmt.Errorf("-error %v: pass a number above 0, such as 2", f.error)
	}
	if f.queries < 1 || f.queries > 1_000_000_000 {
		return c, fmt.Errorf("-queries %d: pass 1 to 1000000000", f.queries)
	}
	if c.Kinds, err = choose("filters", f.filters, kind.All, kind.Name); err != nil {
		return c, err
	}
	if c.Shapes, err = choose("shapes", f.shapes, keys.Shapes, keys.ShapeName); err != nil {
		return c, err
	}
	c.Densities, err = choose("densities", f.densities, keys.Densities, keys.DensityName)
	if err != nil {
		return c, err
	}
	if c.Ns, err = parseList("n", f.ns, keys.ParseN); err != nil {
		return c, err
	}
	c.Bits, err = parseList("bits", f.bits, func(s string) (float64, error) {
		bits, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no number", s)
		}
		for _, k := range c.Kinds {
			if _, err := k.New(bits); err != nil {
				return 0, fmt.Errorf("%s: %w", k.Name, err)
			}
		}
		return bits, nil
	})
	if err != nil {
		return c, err
	}
	if cells, _ := c.Cells(); len(cells) == 0 {
		return c, errors.New("nothing to measure: no shape has so many keys: pass other -shapes, " +
			"or a smaller -n")
	}
	return c, nil
}

// rates is the subcommand that measures false-positive rates outside of the engines.
func rates(ctx context.Context, args []string, stdout io.Writer) error {
	f := newRateFlags()
	err := f.parse(args, stdout, map[string]string{"n": "20,1k", "queries": "20000"})
	if err != nil {
		return err
	}
	config, err := f.config()
	if err != nil {
		return err
	}
	if err := f.outputs.open(); err != nil {
		return err
	}
	defer f.outputs.discard()
	config.Progress = progress.New(os.Stderr)
	outcome := ratebench.Outcome{Config: &config}
	outcome.Results, err = config.Run(ctx)
	r := f.report()
	outcome.Report(r)
	return errors.Join(f.outputs.finish(r, stdout, err), outcome.Err())
}
