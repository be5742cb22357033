package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"github.com/levelbloom/levelbloom/bench/internal/engines"
	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/play"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// commands are what args name. The first one needs no name.
type commands struct {
	Engines enginesCommand `cmd:"" help:"${engines}"`
	Rates   ratesCommand   `cmd:"" help:"${rates}"`
	Play    playCommand    `cmd:"" help:"A page that shows filters at work: bits and probes."`
}

// texts are what flags take, and help.
var texts = kong.Vars{
	"all":    "goleveldb,pebblev1,pebblev2",
	"shapes": "random,decimal,decimal15,user,bigendian,littleendian",
	"shape": "Of random (16 bytes), decimal (0000000000000042), decimal15, user " +
		"(user0000000000000042), bigendian and littleendian (8 bytes).",
	"filters": "Names that policy.FromString takes, with a plus sign before options: ribbon:7, " +
		"bloom:10, bloom:10+tuned. The number is bits per key, 10 without one.",
	"others": "${filters} none is no filter, builtin the engine's own. With +L6, Pebble's L6 has " +
		"the filters too, and the adapter's Get, which asks them, looks up.",
	"engines": `Counts what lookups read in storage engines, with and without filters, and times
them. It fills temporary databases and removes them, in a minute or two. For a database that you
have, use filterdump.

The name "engines" may be left out. "bench play" opens a page that shows filters at work. "bench
rates -h" is for bench/RESULTS.md alone: filters outside of engines.`,
	"rates": `For bench/RESULTS.md: measures false-positive rates outside of any engine, and fails
if one is more than five standard errors above the bound that its kind promises. 63 % of a range of
keys is present, and absent ones lie between.`,
}

// enginesCommand compares filters inside the storage engines.
type enginesCommand struct {
	Num     int           `default:"150000" help:"Keys to store."`
	Shape   string        `default:"random" enum:"${shapes}" help:"${shape}"`
	Disk    time.Duration `default:"100us" help:"How long a read of table data takes."`
	Cached  bool          `help:"Give the block cache room for all of the data."`
	Engines []string      `default:"goleveldb,pebblev2" enum:"${all}" help:"Of ${enum}."`
	Filters []string      `default:"none,builtin,ribbon,builtin+L6,ribbon+L6" help:"${others}"`
	outputs
}

func (f *enginesCommand) Run(typed string) error {
	if err := inRange("--num", 8, f.Num); err != nil { // of fewer, no absent keys may lie between
		return err
	}
	if f.Disk < 0 {
		return fmt.Errorf("--disk %v: pass 0s or more", f.Disk)
	}
	config := engines.Config{Filters: f.Filters, Disk: f.Disk, Cached: f.Cached,
		Keys:     keys.ShapesOf(f.Shape)[0].Set(f.Num, engines.MaxAbsent),
		Progress: report.Progress}
	for _, e := range engines.Engines {
		if slices.Contains(f.Engines, e.Name) {
			config.Engines = append(config.Engines, e)
		}
	}
	return f.write(typed, func() (*report.Report, error) {
		records, err := config.Run(untilInterrupted())
		return config.Report(records), err
	})
}

// ratesCommand measures false-positive rates outside of the engines.
type ratesCommand struct {
	Filters []filters.Kind `default:"bloom,bloom+tuned,ribbon" help:"${filters}"`
	N       []int          `short:"n" default:"36,500,10000,100000" help:"Keys per filter."`
	Shape   []string       `default:"${shapes}" enum:"${shapes}" placeholder:"S" help:"${shape}"`
	Queries int            `default:"500000" help:"Absent keys to look up per cell."`
	outputs
}

func (f *ratesCommand) Run(typed string) error {
	err := errors.Join(inRange("-n", 1, f.N...), inRange("--queries", 1, f.Queries))
	if len(f.Filters) == 0 {
		err = errors.Join(err, errors.New("--filters: pass a filter"))
	}
	if err != nil {
		return err
	}
	var rates []filters.Rate
	err = f.write(typed, func() (_ *report.Report, err error) {
		rates, err = filters.MeasureRates(f.Filters, keys.ShapesOf(f.Shape...), f.N, f.Queries,
			report.Progress)
		return filters.Report(rates), err
	})
	return errors.Join(err, filters.CheckBounds(rates))
}

// playCommand serves a page to this machine alone, until Ctrl-C. It needs no network.
type playCommand struct {
	Port uint16 `help:"Port to listen on; 0 is any that is free." default:"0"`
}

func (f *playCommand) Run() error {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", f.Port))
	if err != nil {
		return fmt.Errorf("--port %d: %w", f.Port, err)
	}
	ctx := untilInterrupted()
	context.AfterFunc(ctx, func() { l.Close() })
	const text = "http://%s shows filters at work, in a browser. Ctrl-C ends it.\n"
	fmt.Printf(text, l.Addr())
	if err := http.Serve(l, play.Handler()); ctx.Err() == nil {
		return err
	}
	return nil
}

// outputs is where a report goes in addition to stdout.
type outputs struct {
	JSON    string           `name:"json" placeholder:"FILE" help:"Also write the figures as JSON."`
	Version kong.VersionFlag `help:"Print the version."`
}

// write writes the report that measure returns. It makes the file first: measuring takes long.
func (o *outputs) write(typed string, measure func() (*report.Report, error)) error {
	file, err := os.Create(cmp.Or(o.JSON, os.DevNull))
	if err != nil {
		return fmt.Errorf("--json: %w", err)
	}
	defer file.Close()
	r, err := measure()
	if err != nil {
		return err
	}
	r.Command, r.Environment = typed, report.ThisEnvironment()
	return errors.Join(r.WriteText(os.Stdout), r.WriteJSON(file))
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
