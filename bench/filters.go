package main

import (
	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// filtersCommand compares the speed of filters outside of the engines.
type filtersCommand struct {
	Filters specs      `default:"goleveldb,pebblev2,bloom,ribbon" help:"Filters."`
	N       []keyCount `short:"n" default:"36,500,10k,1M" help:"Keys per filter."`
	outputs
}

func (*filtersCommand) Help() string {
	return `Times builds of filters, lookups of present keys (hit), and lookups of absent keys
(miss) outside of any engine. Filters of 10M keys take 2 GB of memory.

Filters have names that policy.FromString takes, such as bloom:7; goleveldb and pebblev2 are the
engines' own. A name without a number of bits per key gets 10. Ratios are to the first filter,
which has two turns in each round: the difference is noise.`
}

// Run is the subcommand.
func (f *filtersCommand) Run(j *job) error {
	kinds, err := f.Filters.kinds(10)
	if err != nil {
		return err
	}
	all, err := filters.CompareSpeeds(j.ctx, kinds, ints(f.N), j.progress)
	return f.write(j, len(all) == 0, err, func(r *report.Report) { filters.ReportSpeeds(r, all) })
}
