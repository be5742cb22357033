package main

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/play"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// enginesCommand compares filters inside the storage engines.
type enginesCommand struct {
	Num     keys.Count    `default:"150k" help:"Keys to store, such as 20k or 1M."`
	Disk    time.Duration `default:"100us" help:"How long a read of table data waits."`
	Cached  bool          `help:"Give the block cache room for all of the data."`
	Bits    int           `default:"10" help:"Bits per key, a whole number."`
	Engines []string      `default:"goleveldb,pebblev2" enum:"${engines}" help:"${enum}."`
	Filters []string      `default:"none,builtin,ribbon:7,ribbon,ribbon+L6" help:"Filters."`
	Shape   string        `default:"decimal" enum:"${shapes}" help:"Shape of the keys."`
	All     bool          `help:"All figures, and three rounds: 2 minutes."`
	outputs
}

func (*enginesCommand) Help() string {
	return `Fills temporary databases, with and without filters, looks keys up in them, and removes
them, in half a minute. First it counts what lookups of absent keys read. Then it times lookups, in
which a read of table data waits as long as on a disk. For a database that you have, use filterdump:
it counts what lookups read there.

` + filtersHelp + ` none is no filter, builtin is each engine's
own, ribbon+L6 has filters in Pebble's L6 too and looks up by the adapter's Get,
which asks them. Ratios are to the first filter.

` + shapesHelp()
}

// Run is the subcommand.
func (f *enginesCommand) Run(j *job) error {
	config, err := f.config(j)
	if err != nil {
		return err
	}
	records, err := config.Run(j.ctx)
	return f.write(j, len(records.Counted) == 0, err,
		func(r *report.Report) { config.Report(r, records) })
}

// config returns what the flags ask for.
func (f *enginesCommand) config(j *job) (enginebench.Config, error) {
	source := keys.Sources([]string{f.Shape}, []string{"63%"})[0] // as the report says
	c := enginebench.Config{Disk: f.Disk, Cached: f.Cached, All: f.All, Bits: f.Bits,
		Filters: f.Filters, Progress: j.progress}
	for _, e := range engine.Engines {
		if slices.Contains(f.Engines, e.Name) {
			c.Engines = append(c.Engines, e)
		}
	}
	if err := c.Validate(); err != nil {
		return c, err
	}
	c.Keys = source.Set(int(f.Num), enginebench.Absent)
	if len(c.Keys.Between) < 4 {
		return c, fmt.Errorf("--num %v: no absent keys lie between so few: pass more", f.Num)
	}
	return c, nil
}

// filtersCommand compares the speed of filters outside of the engines.
type filtersCommand struct {
	Filters []string     `default:"goleveldb,pebblev2,bloom,ribbon" help:"Filters."`
	N       []keys.Count `short:"n" default:"36,500,10k,1M" help:"Keys per filter."`
	outputs
}

func (*filtersCommand) Help() string {
	return `Times builds of filters, lookups of present keys (hit), and lookups of absent keys
(miss) outside of any engine. Filters of 10M keys take 2 GB of memory.

Filters have names that policy.FromString takes, with a plus sign before options, such as bloom:7
and bloom:7+tuned; goleveldb and pebblev2 are the engines' own. A name without a number of bits per
key gets 10. Ratios are to the first filter,
which has two turns in each round: the difference is noise.`
}

// Run is the subcommand.
func (f *filtersCommand) Run(j *job) error {
	kinds, err := kinds(f.Filters, 10)
	if err != nil {
		return err
	}
	slices.Sort(f.N)
	all, err := filters.CompareSpeeds(j.ctx, kinds, slices.Compact(f.N), j.progress)
	return f.write(j, len(all) == 0, err, func(r *report.Report) { filters.ReportSpeeds(r, all) })
}

// ratesCommand measures false-positive rates outside of the engines.
type ratesCommand struct {
	Filters []string     `default:"bloom,bloom+tuned,ribbon" help:"Filters."`
	Bits    []float64    `default:"10,16,20" help:"Bits per key."`
	N       []keys.Count `short:"n" default:"8,20,36,64,500,10k,100k,1M" help:"${nHelp}"`
	Shape   []string     `default:"${shapes}" enum:"${shapes}" placeholder:"NAMES" help:"Shapes."`
	Density []string     `default:"${all}" enum:"${all}" placeholder:"D" help:"${densityHelp}"`
	Queries keys.Count   `default:"500k" help:"Absent keys to look up per cell."`
	outputs
}

func (*ratesCommand) Help() string {
	return `Measures false-positive rates, and fails if one is more than five standard errors above
the bound that its kind of filter promises. Filters of 10M keys take 5 GB of memory.

` + filtersHelp + "\n\n" + shapesHelp()
}

// Run is the subcommand.
func (f *ratesCommand) Run(j *job) error {
	kinds, err := kinds(f.Filters, f.Bits...)
	if err != nil {
		return err
	}
	rates, err := filters.MeasureRates(j.ctx, kinds, keys.Sources(f.Shape, f.Density),
		f.N, int(f.Queries), j.progress)
	err = f.write(j, len(rates) == 0, err, func(r *report.Report) { filters.ReportRates(r, rates) })
	return errors.Join(err, filters.CheckBounds(rates))
}

// playCommand serves a page to this machine alone, until Ctrl-C. It needs no network.
type playCommand struct {
	Port uint16 `help:"Port to listen on; 0 is any that is free." default:"0"`
}

// Run is the subcommand.
func (f *playCommand) Run(j *job) error {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", f.Port))
	if err != nil {
		return fmt.Errorf("--port %d: %w", f.Port, err)
	}
	const text = "http://%s shows filters at work, in a browser. Ctrl-C ends it.\n"
	fmt.Fprintf(j.stdout, text, l.Addr())
	return play.Serve(j.ctx, l)
}
