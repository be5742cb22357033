package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/levelbloom/levelbloom/bench/internal/engines"
	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/play"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// enginesCommand compares filters inside the storage engines.
type enginesCommand struct {
	Num     int           `default:"150000" help:"Keys to store."`
	Shape   string        `default:"random" enum:"${shapes}" help:"Shape of the keys."`
	Disk    time.Duration `default:"100us" help:"How long a read of table data takes."`
	Cached  bool          `help:"Give the block cache room for all of the data."`
	Engines []string      `default:"goleveldb,pebblev2" enum:"${engines}" help:"Of ${enum}."`
	Filters []string      `default:"none,builtin,ribbon:7,ribbon,ribbon+L6" help:"See above."`
	outputs
}

func (*enginesCommand) help() string {
	return `Counts what lookups read in storage engines, with and without filters, and times
them. It fills temporary databases and removes them, in a minute or two. For a
database that you have, use filterdump.

` + filtersHelp + `
none is no filter, builtin is each engine's own, and ribbon+L6 is ribbon in
Pebble's L6 too, with lookups by the adapter's Get, which asks those filters.

` + shapesHelp + `

"bench play" opens a page that shows filters at work. "bench rates -h" is for
bench/RESULTS.md alone: filters outside of engines.`
}

func (f *enginesCommand) run(j *job) error {
	config := engines.Config{Disk: f.Disk, Cached: f.Cached, Filters: f.Filters,
		Progress: j.progress}
	for _, e := range engines.Engines {
		if slices.Contains(f.Engines, e.Name) {
			config.Engines = append(config.Engines, e)
		}
	}
	if err := config.Validate(); err != nil {
		return err
	}
	if err := inRange("--num", 8, f.Num); err != nil { // of fewer, no absent keys may lie between
		return err
	}
	config.Keys = keys.ShapesOf(f.Shape)[0].Set(f.Num, engines.Lookups)
	return write(j, f.outputs, config.Run, config.Report)
}

// ratesCommand measures false-positive rates outside of the engines.
type ratesCommand struct {
	Filters []filters.Kind `default:"bloom,bloom+tuned,ribbon" help:"See above."`
	N       []int          `short:"n" default:"36,500,10000,100000" help:"Keys per filter."`
	Shape   []string       `default:"${shapes}" enum:"${shapes}" placeholder:"NAMES" help:"Shapes."`
	Queries int            `default:"500000" help:"Absent keys to look up per cell."`
	outputs
}

func (*ratesCommand) help() string {
	return `For bench/RESULTS.md: measures false-positive rates outside of any engine, and
fails if one is more than five standard errors above the bound that its kind
promises. 63 % of a range of keys is present, and absent ones lie between.

` + filtersHelp + "\n\n" + shapesHelp
}

func (f *ratesCommand) run(j *job) error {
	err := errors.Join(inRange("-n", 1, f.N...), inRange("--queries", 1, f.Queries))
	if len(f.Filters) == 0 {
		err = errors.Join(err, errors.New("--filters: pass a filter"))
	}
	if err != nil {
		return err
	}
	var rates []filters.Rate
	err = write(j, f.outputs, func(ctx context.Context) (_ []filters.Rate, err error) {
		rates, err = filters.MeasureRates(ctx, f.Filters, keys.ShapesOf(f.Shape...), f.N, f.Queries,
			j.progress)
		return rates, err
	}, filters.ReportRates)
	return errors.Join(err, filters.CheckBounds(rates))
}

// playCommand serves a page to this machine alone, until Ctrl-C. It needs no network.
type playCommand struct {
	Port uint16 `help:"Port to listen on; 0 is any that is free." default:"0"`
}

func (*playCommand) help() string { return "A page that shows filters at work: bits and probes." }

func (f *playCommand) run(j *job) error {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", f.Port))
	if err != nil {
		return fmt.Errorf("--port %d: %w", f.Port, err)
	}
	const text = "http://%s shows filters at work, in a browser. Ctrl-C ends it.\n"
	fmt.Fprintf(j.stdout, text, l.Addr())
	context.AfterFunc(j.ctx, func() { l.Close() })
	if err := http.Serve(l, play.Handler()); j.ctx.Err() == nil {
		return err
	}
	return nil
}

// outputs is where a report goes in addition to stdout.
type outputs struct {
	JSON    string           `name:"json" placeholder:"FILE" help:"Also write the figures as JSON."`
	Version kong.VersionFlag `help:"Print the version."`
}

// write writes a report of what measure returns, unless that is nothing, and returns all errors. It
// makes the file first: measuring takes long.
func write[R any](j *job, o outputs, measure func(context.Context) ([]R, error),
	fill func(*report.Report, []R)) (err error) {
	var file *os.File
	if o.JSON != "" {
		if file, err = os.Create(o.JSON); err != nil {
			return fmt.Errorf("--json: %w", err)
		}
		defer file.Close()
	}
	records, err := measure(j.ctx)
	if len(records) == 0 {
		return err
	}
	r := &report.Report{Command: j.typed, Environment: report.ThisEnvironment()}
	if err != nil {
		r.Incomplete = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	fill(r, records)
	err = errors.Join(err, r.WriteText(j.stdout))
	if file != nil {
		err = errors.Join(err, r.WriteJSON(file))
	}
	return err
}

// inRange returns an error if a number of keys is less than least, or too large for memory.
func inRange(flag string, least int, numbers ...int) error {
	for _, n := range numbers {
		if n < least || n > 100_000_000 {
			return fmt.Errorf("%s %d: pass %d to 100 million", flag, n, least)
		}
	}
	return nil
}

// filtersHelp explains --filters.
const filtersHelp = `Filters have names that policy.FromString takes, with a plus sign before
options: ribbon:7, bloom:10, bloom:10+tuned. The number is bits per key, 10
without one.`

// names are what flags take.
var names = kong.Vars{
	"engines": "goleveldb,pebblev1,pebblev2",
	"shapes":  "random,decimal,decimal15,user,bigendian,littleendian",
}

// shapesHelp explains --shape.
const shapesHelp = `Shapes of keys are random (16 bytes), decimal (0000000000000042), decimal15,
user (user0000000000000042), bigendian and littleendian (8 bytes).`
