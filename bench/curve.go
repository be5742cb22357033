package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// curveFlags is the flags of `bench curve`.
type curveFlags struct {
	*flags
	against, filters, shape, density, n, atBits, atKeys string
	bits                                                float64
	queries                                             int
	seed                                                int64
}

func newCurveFlags() *curveFlags {
	f := &curveFlags{flags: newFlags("curve", "Measures how false-positive rates depend on the "+
		"fill of a filter, on bits per key, or on keys per filter, beside the textbook's rates "+
		"and computed ones. With -svg it draws them.")}
	f.StringVar(&f.against, "against", string(ratebench.Fill), "`what` to measure against: "+
		"fill (filters that are sized for -n keys, with fewer and with more), bits (per key), or "+
		"n (filters that are sized for their keys). Only bloom is measured against fill: others "+
		"are made for the keys that they are built of")
	f.StringVar(&f.filters, "filters", join(kind.All, kind.Name), "`kinds` of filter to measure")
	f.StringVar(&f.shape, "shape", "random", "`shape` of the keys: "+
		spaced(join(keys.All, keys.ShapeName)))
	f.StringVar(&f.density, "density", "63%", "`part` of a range of keys that is present: "+
		spaced(join(keys.Densities, keys.DensityName))+". Shapes of programs have their own")
	f.keysFlag("Without -n and -at-n, filters have at most as many keys as there are")
	f.StringVar(&f.n, "n", "10k", "`keys` that filters are sized for, against fill and bits")
	f.Float64Var(&f.bits, "bits", 10, "`bits` per key, against fill and n")
	f.StringVar(&f.atBits, "at-bits", "4,6,8,10,12,14,16,18,20", "`bits` per key to measure at")
	f.StringVar(&f.atKeys, "at-n", "10,30,100,300,1k,3k,10k,30k,100k,300k",
		"`keys` per filter to measure at")
	f.IntVar(&f.queries, "queries", 2_000_000, "absent `keys` to ask for each point")
	f.Int64Var(&f.seed, "seed", 1, "`seed` of the keys; the same seed gives the same rates")
	f.quickFlag("up to 10,000 keys", map[string]string{"n": "1k",
		"at-n": "10,100,1k,10k", "at-bits": "5,10,15,20", "queries": "60000"})
	f.StringVar(&f.outputs.svg.path, "svg", "", "`file` to write as SVG")
	return f
}

// config checks the flags and returns what they ask for.
func (f *curveFlags) config() (c ratebench.Config, err error) {
	against, err := choose("against", f.against, ratebench.Axes[1:], itself)
	if err != nil {
		return c, err
	}
	c = ratebench.Config{Against: against[0], Queries: f.queries, Seed: f.seed}
	if c.Kinds, err = kinds(f.filters); err != nil {
		return c, err
	}
	own, err := f.ownKeys()
	if err != nil {
		return c, err
	}
	shape, density, err := f.oneShape(own, f.shape, f.density)
	if err != nil {
		return c, err
	}
	c.Shapes, c.Densities = []keys.Shape{shape}, []keys.Density{density}
	n, err := keys.ParsePerFilter(f.n)
	if err != nil {
		return c, fmt.Errorf("-n: %w", err)
	}
	if own != nil && !f.given["n"] {
		n = max(1, min(n, own.Most(0)*2/3)) // the fullest filter has half as many again
		f.n = keys.FormatN(n)
	}
	c.Ns, c.Bits, c.Capacity = []int{n}, []float64{f.bits}, n
	switch c.Against {
	case ratebench.Fill:
		c.Ns = ratebench.Fills(n)
	case ratebench.Bits:
		c.Bits, err = parseList("at-bits", f.atBits, parseBits)
	case ratebench.Keys:
		if c.Ns, err = parseList("at-n", f.atKeys, keys.ParsePerFilter); err == nil {
			c.Ns, err = f.fitting(own, c.Ns, "at-n")
		}
	}
	if own != nil && err == nil {
		if err = own.Fits(c.Ns[len(c.Ns)-1], 0); err != nil {
			err = fmt.Errorf("-keys: %w", err)
		}
	}
	if err != nil {
		return c, err
	}
	return c, c.Validate()
}

// curve is the subcommand that measures rates against one thing at a time.
func curve(ctx context.Context, args []string, stdout io.Writer) error {
	f := newCurveFlags()
	config, err := prepare(f.flags, args, stdout, f.config)
	if err != nil {
		return err
	}
	config.Progress = report.ProgressOf(ctx, os.Stderr)
	outcome := ratebench.Outcome{Config: &config}
	outcome.Records, err = config.Run(ctx)
	r := f.report()
	outcome.Report(r)
	return f.outputs.finish(r, stdout, err)
}
