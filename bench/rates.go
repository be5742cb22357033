package main

import (
	"errors"
	"io"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// ratesCommand measures false-positive rates outside of the engines.
type ratesCommand struct {
	Filters specs     `default:"bloom,tuned,ribbon" help:"Filters."`
	Bits    []float64 `default:"10,16,20" help:"Bits per key."`
	N       []count   `short:"n" default:"8,20,36,64,500,10k,100k,1M" quick:"20,1k" help:"${nHelp}"`
	Shape   []string  `default:"${shapes}" enum:"${shapes}" placeholder:"NAMES" help:"Shapes."`
	Density []string  `default:"${all}" enum:"${all}" placeholder:"D" help:"${densityHelp}"`
	Keys    string    `placeholder:"FILE" help:"${keysHelp} Without --shape, no others."`
	Hex     bool      `help:"${hexHelp}"`
	Queries int       `default:"500000" quick:"20000" help:"Absent keys to look up per cell."`
	Seed    int64     `default:"1" help:"Seed of the keys; the same gives the same rates."`
	Quick   bool      `help:"A short run: filters of 20 and 1000 keys."`
	SVG     output    `group:"Output" name:"svg" placeholder:"FILE" help:"Draw a picture."`
	outputs
}

func (*ratesCommand) Help() string {
	return `Measures false-positive rates, and fails if a kind of filter breaks a bound that it
promises. Filters of 10M keys take 5 GB of memory.

` + filtersHelp + "\n\n" + shapesHelp()
}

// Run is the subcommand.
func (f *ratesCommand) Run(j *job) error { return f.outputs.run(j, f.measure) }

func (f *ratesCommand) measure(j *job) (*report.Report, error) {
	config, err := f.config(j)
	if err != nil {
		return nil, err
	}
	records, err := config.Run(j.ctx)
	if len(records) == 0 {
		return nil, err
	}
	r := j.report(err)
	broken := config.Report(r, records)
	return r, errors.Join(err, broken, f.SVG.write(func(w io.Writer) error {
		return ratebench.WritePicture(w, records)
	}))
}

// config returns what the flags ask for.
func (f *ratesCommand) config(j *job) (c ratebench.Config, err error) {
	c = ratebench.Config{Sources: sources(f.Shape, f.Density), Ns: counts(f.N), Queries: f.Queries, Seed: f.Seed, Progress: j.progress}
	if c.Kinds, err = f.Filters.kinds(f.Bits...); err != nil || f.Keys == "" {
		return c, err
	}
	own, err := ownKeys(j, f.Keys, f.Hex)
	if err != nil {
		return c, err
	}
	if !j.given("shape") {
		c.Sources = nil
	}
	c.Sources = append([]keys.Source{own.Source()}, c.Sources...)
	c.Ns, err = fitting(own, c.Ns, j.given("n"))
	return c, err
}
