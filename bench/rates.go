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
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// rateFlags is the flags of `bench rates`.
type rateFlags struct {
	*flags
	filters, shapes, densities, ns, bits string
	queries                              int
	seed                                 int64
}

func newRateFlags() *rateFlags {
	f := &rateFlags{flags: newFlags("rates", "Measures false-positive rates, and fails if a kind "+
		"of filter breaks a bound that it promises. Filters of 10M keys (-n 10M) take 5 GB "+
		"of memory.")}
	f.StringVar(&f.filters, "filters", join(kind.All, kind.Name), "`kinds` of filter to measure; "+
		"there are also the engines' own, goleveldb and pebblev2")
	f.StringVar(&f.shapes, "shapes", join(keys.Shapes, keys.ShapeName)+",iavl,cockroach",
		"`shapes` of the keys; there are also those of programs: "+
			spaced(join(keys.Real, keys.ShapeName)))
	f.keysFlag("Without -shapes, no other keys are measured")
	f.StringVar(&f.densities, "densities", join(keys.Densities, keys.DensityName),
		"`parts` of a range that are present; beyond is all, and absent keys follow. "+
			"Shapes of programs have their own")
	f.StringVar(&f.ns, "n", "8,20,36,64,500,10k,100k,1M", "`keys` per filter")
	f.StringVar(&f.bits, "bits", "10,16,20", "`bits` per key")
	f.IntVar(&f.queries, "queries", 500_000, "absent `keys` to ask for each number of keys, shape "+
		"and density")
	f.Int64Var(&f.seed, "seed", 1, "`seed` of the keys; the same seed gives the same rates")
	f.StringVar(&f.outputs.svg.path, "svg", "", "`file` to write as SVG")
	f.quickFlag("20 and 1000 keys", map[string]string{"n": "20,1k", "queries": "20000"})
	return f
}

// config checks the flags and returns what they ask for.
func (f *rateFlags) config() (c ratebench.Config, err error) {
	c = ratebench.Config{Against: ratebench.Shapes, Queries: f.queries, Seed: f.seed}
	if c.Kinds, err = kinds(f.filters); err != nil {
		return c, err
	}
	own, err := f.ownKeys()
	if err != nil {
		return c, err
	}
	if c.Shapes, err = f.withOwn(own, f.shapes); err != nil {
		return c, err
	}
	c.Densities, err = choose("densities", f.densities, keys.Densities, keys.DensityName)
	if err != nil {
		return c, err
	}
	if c.Ns, err = parseList("n", f.ns, keys.ParsePerFilter); err != nil {
		return c, err
	}
	if c.Ns, err = f.fitting(own, c.Ns, "n"); err != nil {
		return c, err
	}
	if c.Bits, err = parseList("bits", f.bits, parseBits); err != nil {
		return c, err
	}
	return c, c.Validate()
}

// kinds returns the kinds of filter that a list names.
func kinds(list string) (all []kind.Kind, err error) {
	_, err = parseList("filters", list, func(name string) (string, error) {
		k, err := kind.FromString(name)
		all = append(all, k)
		return name, err
	})
	return all, err
}

func parseBits(s string) (float64, error) {
	bits, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", s)
	}
	return bits, nil
}

// rates is the subcommand that measures false-positive rates outside of the engines.
func rates(ctx context.Context, args []string, stdout io.Writer) error {
	f := newRateFlags()
	config, err := prepare(f.flags, args, stdout, f.config)
	if err != nil {
		return err
	}
	config.Progress = report.ProgressOf(ctx, os.Stderr)
	outcome := ratebench.Outcome{Config: &config}
	outcome.Records, err = config.Run(ctx)
	r := f.report()
	outcome.Report(r)
	return errors.Join(f.outputs.finish(r, stdout, err), outcome.Err())
}
