package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/progress"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy"
)

// engineFlags is the flags of `bench engines`, in the style of LevelDB's db_bench.
type engineFlags struct {
	*flags
	num, valueSize, reads, rounds, baseLg int
	bits                                  float64
	engines, filters, shape, density, dir string
	seed                                  int64
	quick                                 bool
}

func newEngineFlags() *engineFlags {
	f := &engineFlags{flags: newFlags("engines", "Loads real databases, with and without "+
		"filters, and "+
		"measures what the filters do. The last filter runs twice in each round, which shows the "+
		"noise.")}
	f.IntVar(&f.num, "num", 100_000, "`keys` to store")
	f.IntVar(&f.valueSize, "value-size", 100, "`bytes` of random data per value")
	f.IntVar(&f.reads, "reads", 1<<14, "`lookups` in each pass")
	f.IntVar(&f.rounds, "rounds", 3, "`rounds`, in each of which every contestant runs")
	f.Float64Var(&f.bits, "bits", 10, "`bits` per key; engines' own filters round up")
	f.IntVar(&f.baseLg, "baselg", opt.DefaultFilterBaseLg,
		"`lg` of the bytes of data that share a filter in goleveldb")
	f.StringVar(
		&f.engines,
		"engines",
		"goleveldb,pebblev2",
		"`engines` to run; there is also pebblev1",
	)
	f.StringVar(
		&f.filters,
		"filters",
		join(engine.Filters(), itself),
		"`filters` to compare; ratios are "+
			"to the first one",
	)
	f.StringVar(&f.shape, "shape", "decimal", "`shape` of the keys, such as random or bigendian")
	f.StringVar(&f.density, "density", "63%", "`part` of a range of keys that is present; 63% is "+
		"what db_bench's fillrandom leaves")
	f.Int64Var(&f.seed, "seed", 1, "`seed` of keys and values")
	f.StringVar(&f.dir, "dir", os.TempDir(), "`directory` for the databases, which are removed")
	f.BoolVar(&f.quick, "quick", false, "a short run, too small for conclusions: 10,000 keys, 1 "+
		"round")
	return f
}

// config checks the flags and returns what they ask for.
func (f *engineFlags) config() (c enginebench.Config, err error) {
	c = enginebench.Config{
		ValueSize: f.valueSize, Reads: f.reads, Rounds: f.rounds,
		Bits: f.bits, BaseLg: f.baseLg, Seed: f.seed,
	}
	if f.reads < 1 || f.rounds < 1 {
		return c, fmt.Errorf("-reads %d, -rounds %d: pass 1 or more", f.reads, f.rounds)
	}
	if f.valueSize < 0 || f.valueSize > 1<<20 {
		return c, fmt.Errorf("-value-size %d: pass 0 to 1048576", f.valueSize)
	}
	if err := goleveldb.WithFilterBaseLg(f.baseLg)(&opt.Options{}); err != nil {
		return c, fmt.Errorf("-baselg: %w", err)
	}
	if _, err := policy.NewBloom(f.bits); err != nil {
		return c, fmt.Errorf("-bits: %w", err)
	}
	if c.Engines, err = choose("engines", f.engines, engine.Engines, engine.Name); err != nil {
		return c, err
	}
	if c.Filters, err = choose("filters", f.filters, engine.Filters(), itself); err != nil {
		return c, err
	}
	shapes, err := choose("shape", f.shape, keys.Shapes, keys.ShapeName)
	if err != nil {
		return c, err
	}
	density, err := keys.ParseDensity(f.density)
	if err != nil {
		return c, fmt.Errorf("-density: %w", err)
	}
	c.Keys, err = keys.NewSet(shapes[0], density, f.num, f.reads, f.seed)
	return c, err
}

// engines is the subcommand that compares filters inside the storage engines.
func engines(ctx context.Context, args []string, stdout io.Writer) error {
	f := newEngineFlags()
	err := f.parse(args, stdout, map[string]string{"num": "10000", "reads": "5000", "rounds": "1"})
	if err != nil {
		return err
	}
	config, err := f.config()
	if err != nil {
		return err
	}
	if err := f.outputs.open(); err != nil {
		return err
	}
	defer f.outputs.discard()
	if config.Dir, err = os.MkdirTemp(f.dir, "levelbloom-bench-"); err != nil {
		return fmt.Errorf("-dir: %w", err)
	}
	config.Progress = progress.New(os.Stderr)
	runs, err := supervise(ctx, &config)
	err = errors.Join(err, removeAll(config.Dir))
	r := f.report()
	for _, e := range config.Engines {
		r.Versions = append(
			r.Versions,
			report.Setting{Name: e.Name, Value: report.ModuleVersion(e.Module)},
		)
	}
	outcome := enginebench.Outcome{Config: &config, Runs: runs}
	outcome.Report(r)
	return f.outputs.finish(r, stdout, err)
}

// supervise runs config and returns the finished runs when it is done, when an engine cannot go on,
// or some seconds after an interruption: engines that cannot write may never return from a call.
func supervise(ctx context.Context, config *enginebench.Config) ([]enginebench.Run, error) {
	const patience = 5 * time.Second
	var (
		mutex sync.Mutex
		runs  []enginebench.Run
		done  = make(chan error, 1)
		fatal = make(chan error, 1)
	)
	config.OnFatal = func(err error) {
		select {
		case fatal <- err:
		default: // the first one is the cause
		}
	}
	go func() {
		done <- config.Run(ctx, func(r enginebench.Run) {
			mutex.Lock()
			defer mutex.Unlock()
			runs = append(runs, r)
		})
	}()
	finished := func() []enginebench.Run {
		mutex.Lock()
		defer mutex.Unlock()
		return slices.Clone(runs)
	}
	select {
	case err := <-done:
		return finished(), err
	case err := <-fatal:
		return finished(), err
	case <-ctx.Done():
	}
	select {
	case <-done:
	case <-time.After(patience):
	}
	return finished(), context.Cause(ctx)
}

// removeAll removes a directory. An engine that is stuck may still be writing: it tries for a
// while.
func removeAll(dir string) (err error) {
	for range 50 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
