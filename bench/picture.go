package main

import (
	"context"
	"io"
	"os"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/progress"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
)

// picture is the subcommand that draws false-positive rates by engine and shape of keys.
func picture(ctx context.Context, args []string, stdout io.Writer) error {
	f := newFlags("picture", "Measures false-positive rates at 10 bits per key in filters as "+
		"large as "+
		"those of goleveldb (36 keys: windows of 2 KiB) and of Pebble (100,000 keys: a table), "+
		"for several "+
		"shapes of keys, and draws them.")
	var file output
	f.StringVar(&file.path, "o", "bench/fpr.svg", "`file` to write as SVG")
	queries := f.Int("queries", 2_500_000, "absent `keys` that a cell asks at most")
	seed := f.Int64("seed", 1, "`seed` of the keys; the same seed gives the same picture")
	if err := f.parse(args, stdout, nil); err != nil {
		return err
	}
	density, err := keys.ParseDensity("63%")
	if err != nil {
		return err
	}
	shapes, err := choose("shapes", "random,uuid,url,composite,key,user,decimal,bigendian",
		keys.Shapes, keys.ShapeName)
	if err != nil {
		return err
	}
	if err := file.open(); err != nil {
		return err
	}
	defer file.discard()
	if err := f.outputs.open(); err != nil {
		return err
	}
	defer f.outputs.discard()
	config := ratebench.Config{
		Kinds: kind.All, Shapes: shapes, Densities: []keys.Density{density}, Bits: []float64{10},
		Ns: []int{
			ratebench.WindowKeys,
			ratebench.TableKeys,
		}, Error: 0.02, Queries: max(1, *queries), Seed: *seed,
		Progress: progress.New(os.Stderr),
	}
	outcome := ratebench.Outcome{Config: &config}
	outcome.Results, err = config.Run(ctx)
	if err == nil {
		err = file.write(outcome.Draw)
	}
	r := f.report()
	outcome.Report(r)
	return f.outputs.finish(r, stdout, err)
}
