package main

import (
	"errors"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// ratesCommand measures false-positive rates outside of the engines.
type ratesCommand struct {
	Filters specs      `default:"bloom,tuned,ribbon" help:"Filters."`
	Bits    []float64  `default:"10,16,20" help:"Bits per key."`
	N       []keyCount `short:"n" default:"8,20,36,64,500,10k,100k,1M" help:"${nHelp}"`
	Shape   []string   `default:"${shapes}" enum:"${shapes}" placeholder:"NAMES" help:"Shapes."`
	Density []string   `default:"${all}" enum:"${all}" placeholder:"D" help:"${densityHelp}"`
	Queries keyCount   `default:"500k" help:"Absent keys to look up per cell."`
	outputs
}

func (*ratesCommand) Help() string {
	return `Measures false-positive rates, and fails if one is more than five standard errors above
the bound that its kind of filter promises. Filters of 10M keys take 5 GB of memory.

` + filtersHelp + "\n\n" + shapesHelp()
}

// Run is the subcommand.
func (f *ratesCommand) Run(j *job) error {
	kinds, err := f.Filters.kinds(f.Bits...)
	if err != nil {
		return err
	}
	rates, err := filters.MeasureRates(j.ctx, kinds, keys.Sources(f.Shape, f.Density),
		ints(f.N), int(f.Queries), j.progress)
	err = f.write(j, len(rates) == 0, err, func(r *report.Report) { filters.ReportRates(r, rates) })
	return errors.Join(err, filters.CheckBounds(rates))
}
