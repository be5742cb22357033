package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/levelbloom/levelbloom/bench/filterbench"
	"github.com/levelbloom/levelbloom/bench/progress"
	"github.com/levelbloom/levelbloom/bench/ratebench"
	"github.com/levelbloom/levelbloom/bench/report"
)

// rateFlags holds the flags of `bench rates`.
type rateFlags struct {
	encodings, shapes, densities, ns, bits string
	error                                  float64
	queries                                int
	seed                                   int64
	quick, full, crossing                  bool
	csv                                    string
}

func parseRateFlags(args []string, stdout io.Writer) (f rateFlags, settings []report.Setting, err error) {
	set := flag.NewFlagSet("bench rates", flag.ContinueOnError)
	set.StringVar(&f.encodings, "encodings", join(ratebench.Encodings, encodingName), "`encodings` to measure")
	set.StringVar(&f.shapes, "shapes", join(ratebench.Shapes, shapeName), "`shapes` of the keys; the report says what they are")
	set.StringVar(&f.densities, "densities", join(ratebench.Densities, densityName), "`densities`: which part of the possible keys is present, and where absent ones lie")
	set.StringVar(&f.ns, "n", "8,20,30,51,52,100,200,500,1000,1025,3k,10k,100k,1M", "`keys` per filter")
	set.StringVar(&f.bits, "bits", "10,11.5,16,20,24", "`bits` per key; with 11.5 and 24 filters of 1000 keys and more are binary fuse too")
	set.Float64Var(&f.error, "error", 2, "`per cent` of a rate that its standard error may be: then a cell has been asked enough")
	set.IntVar(&f.queries, "queries", 2_500_000, "absent `keys` that are asked in a cell at most; of long ones, as many as have the bytes of so many of 64. Up to 500 random keys, with which others are compared, have a third of that error and 9 times as many")
	set.Int64Var(&f.seed, "seed", 1, "`seed` of the keys; the same one gives the same rates")
	set.BoolVar(&f.quick, "quick", false, "a short run that shows that all works, too small for conclusions: filters of 20 and 1000 keys, 20,000 queries (-n and -queries prevail)")
	set.BoolVar(&f.full, "full", false, "a long run: filters of 10M keys too, and 10M queries (-n and -queries prevail)")
	set.BoolVar(&f.crossing, "crossing", false, "instead of all that: where blocked Bloom has fewer false positives than binary fuse, and whether the builder that chooses between them knows it; for other -n, -bits and -queries, which prevail, and random keys")
	set.StringVar(&f.csv, "csv", "", "`file` to write as CSV, a line per cell and encoding")
	given, err := parseFlags(set, args, "Usage: bench rates [flags]\n\nMeasures false-positive rates, and whether they keep the bounds that encodings promise. Filters of 10M keys take 3 GB of memory.", stdout)
	if err != nil {
		return f, nil, err
	}
	if f.quick && f.full {
		return f, nil, errors.New("-quick and -full: pass one of them")
	}
	sizes, unused := map[string]string{}, []string{"csv"}
	if f.quick {
		sizes = map[string]string{"n": "20,1k", "queries": "20000"}
	}
	if f.full {
		sizes = map[string]string{"n": f.ns + ",10M", "queries": "10000000"}
	}
	if f.crossing {
		sizes, unused = crossingSizes(f.quick), []string{"encodings", "shapes", "densities", "full", "csv"}
		for _, name := range unused {
			if given[name] {
				return f, nil, fmt.Errorf("-crossing and -%s: pass one of them", name)
			}
		}
	}
	if err := setOthers(set, given, sizes); err != nil {
		return f, nil, err
	}
	if !(f.error > 0) { // a NaN fails every comparison
		return f, nil, fmt.Errorf("-error %v: pass a number above 0, such as 2", f.error)
	}
	if f.queries < 1 || f.queries > 1_000_000_000 {
		return f, nil, fmt.Errorf("-queries %d: pass 1 to 1000000000", f.queries)
	}
	return f, settingsOf(set, unused...), nil
}

func encodingName(e ratebench.Encoding) string { return e.Name }
func shapeName(s ratebench.Shape) string       { return s.Name }
func densityName(d ratebench.Density) string   { return d.Name }

// config returns what the flags ask for.
func (f rateFlags) config() (c ratebench.Config, err error) {
	c = ratebench.Config{Error: f.error / 100, Queries: f.queries, Seed: f.seed}
	if c.Encodings, err = choose("encodings", f.encodings, ratebench.Encodings, encodingName); err != nil {
		return c, err
	}
	if c.Shapes, err = choose("shapes", f.shapes, ratebench.Shapes, shapeName); err != nil {
		return c, err
	}
	if c.Densities, err = choose("densities", f.densities, ratebench.Densities, densityName); err != nil {
		return c, err
	}
	if c.Ns, err = parseNumbers("n", f.ns, filterbench.ParseN); err != nil {
		return c, err
	}
	c.Bits, err = parseNumbers("bits", f.bits, func(s string) (float64, error) {
		bits, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no number", s)
		}
		for _, e := range c.Encodings {
			if _, err := e.New(bits); err != nil {
				return 0, fmt.Errorf("%s: %w", e.Name, err)
			}
		}
		return bits, nil
	})
	if err != nil {
		return c, err
	}
	if cells, _ := c.Cells(); len(cells) == 0 {
		return c, errors.New("no cell is left: no shape has so many keys: pass other -shapes, or a smaller -n")
	}
	return c, nil
}

// parseNumbers returns the elements of a comma-separated list, which has at least one, and none twice.
func parseNumbers[T comparable](flag, list string, parse func(string) (T, error)) ([]T, error) {
	all, err := parseList(flag, list, parse)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("-%s: pass at least one number", flag)
	}
	for i, x := range all {
		if slices.Contains(all[:i], x) {
			return nil, fmt.Errorf("-%s: %v is named twice", flag, x)
		}
	}
	return all, nil
}

// rates is the subcommand that measures false-positive rates of filters outside of the engines.
func rates(ctx context.Context, args []string, stdout io.Writer) error {
	f, settings, err := parseRateFlags(args, stdout)
	if err != nil {
		return err
	}
	config, err := f.config()
	if err != nil {
		return err
	}
	config.Progress = progress.New(os.Stderr)
	if f.crossing {
		return crossing(ctx, config, settings, stdout)
	}
	file, err := newOutput(f.csv)
	if err != nil {
		return fmt.Errorf("-csv: %w", err)
	}
	defer file.discard()
	r := ratebench.Report{Settings: settings, Encodings: config.Encodings, Shapes: config.Shapes, Densities: config.Densities}
	_, r.LeftOut = config.Cells()
	if r.Results, err = config.Run(ctx); err != nil {
		return err
	}
	return errors.Join(r.WriteText(stdout), file.write(r.WriteCSV), r.Err())
}
