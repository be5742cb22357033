package main

import (
	"errors"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
)

// ratesCommand measures false-positive rates outside of the engines.
type ratesCommand struct {
	Filters specs     `default:"bloom,tuned,ribbon" help:"Filters."`
	Bits    []float64 `default:"10,16,20" help:"Bits per key."`
	N       []count   `short:"n" default:"${ns}" quick:"20,1k" placeholder:"N" help:"${nHelp}"`
	Shape   []string  `default:"${shapes}" enum:"${shapes}" placeholder:"NAMES" help:"Shapes."`
	Density []string  `default:"${all}" enum:"${all}" placeholder:"D" help:"${densityHelp}"`
	Keys    string    `placeholder:"FILE" help:"${keysHelp} Without --shape, no others."`
	Queries int       `default:"500000" quick:"20000" help:"Absent keys to look up per cell."`
	Seed    int64     `default:"1" help:"Seed of the keys; the same gives the same rates."`
	Quick   bool      `help:"A short run: filters of 20 and 1000 keys."`
	Svg     output    `group:"Output" placeholder:"FILE" help:"Draw a picture."`
	outputs
}

func (*ratesCommand) Help() string {
	return `Measures false-positive rates, and fails if a kind of filter breaks a bound that it
promises. Filters of 10M keys take 5 GB of memory.

` + filtersHelp + "\n\n" + shapesHelp()
}

// Run is the subcommand.
func (f *ratesCommand) Run(j *job) error {
	f.outputs.SVG = f.Svg
	config, err := f.config(j)
	if err != nil {
		return err
	}
	outcome := ratebench.Outcome{Config: &config}
	outcome.Records, err = config.Run(j.ctx)
	r := j.report()
	outcome.Report(r)
	return errors.Join(f.finish(r, j.stdout, err), outcome.Err())
}

// config returns what the flags ask for.
func (f *ratesCommand) config(j *job) (c ratebench.Config, err error) {
	c = ratebench.Config{
		Densities: densities(f.Density), Queries: f.Queries, Seed: f.Seed, Progress: j.progress(),
	}
	if c.Kinds, c.Bits, err = f.Filters.kinds(f.Bits); err != nil {
		return c, err
	}
	ns := counts(f.N)
	for _, s := range keys.Shapes {
		if slices.Contains(f.Shape, s.Name) {
			c.Shapes = append(c.Shapes, s)
		}
	}
	if f.Keys != "" {
		own, err := ownKeys(j, f.Keys, &f.outputs)
		if err != nil {
			return c, err
		}
		if !j.given("shape") {
			c.Shapes, f.Shape, f.Density = nil, nil, nil
		}
		c.Shapes = append([]keys.Shape{own.Shape()}, c.Shapes...)
		if ns, err = fitting(own, ns, j.given("n")); err != nil {
			return c, err
		}
	}
	c.Ns = ns
	return c, c.Validate()
}
