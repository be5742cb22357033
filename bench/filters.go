package main

import (
	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// filtersCommand compares the speed of filters outside of the engines.
type filtersCommand struct {
	Filters specs      `default:"goleveldb,pebblev2,bloom,ribbon" help:"Filters."`
	Bits    float64    `default:"10" help:"Bits per key; engines' own filters round up."`
	Work    []string   `default:"hit,miss,build" enum:"hit,miss,build" help:"Kinds of work."`
	N       []keyCount `short:"n" default:"36,500,10k,1M" help:"Keys per filter."`
	Rounds  int        `default:"60" help:"Turns of each filter."`
	outputs
}

func (*filtersCommand) Help() string {
	return `Times filters outside of any engine: lookups of present keys (hit), lookups of absent
keys (miss), and builds. Filters of 10M keys take 1 GB of memory.

` + filtersHelp + ` goleveldb and pebblev2 are the engines' own.
Ratios are to the first filter, which has two turns in each round: the difference is noise.`
}

// Run is the subcommand.
func (f *filtersCommand) Run(j *job) error {
	config, err := f.config(j)
	if err != nil {
		return err
	}
	records, err := config.Run(j.ctx)
	return f.write(j, len(records) == 0, err, func(r *report.Report) { config.Report(r, records) })
}

func (f *filtersCommand) config(j *job) (filterbench.Config, error) {
	kinds, err := f.Filters.kinds(f.Bits)
	return filterbench.Config{Kinds: kinds, Works: f.Work, Ns: ints(f.N), Rounds: f.Rounds,
		Progress: j.progress}, err
}
