package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/bench/internal/verdict"
	"github.com/levelbloom/levelbloom/policy"
)

// engineFlags is the flags of `bench engines`, in the style of LevelDB's db_bench.
type engineFlags struct {
	*flags
	num, valueSize, reads, rounds, baseLg int
	disks                                 string
	bits                                  float64
	engines, filters, shape, density, dir string
	seed                                  int64
	compact                               bool
	disk                                  *verdict.Disk
}

func newEngineFlags() *engineFlags {
	f := &engineFlags{flags: newFlags("engines", "Loads real databases, with and without "+
		"filters, and measures what the filters do. The last filter runs twice in each round: the "+
		"difference between the two is noise.")}
	f.IntVar(&f.num, "num", 150_000, "`keys` to store")
	f.IntVar(&f.valueSize, "value-size", 100, "`bytes` of random data per value")
	f.IntVar(&f.reads, "reads", 1<<13, "`lookups` in each pass; a quarter on slow disks")
	f.StringVar(&f.disks, "disk", "0,100us", "`times` that reads of table data wait, such as "+
		"0,10us,100us,1ms, as on disks that take that long; loads do not wait")
	f.IntVar(&f.rounds, "rounds", 3, "`rounds`, in each of which every contestant runs")
	f.Float64Var(&f.bits, "bits", 10, "`bits` per key; engines' own filters round up")
	f.IntVar(&f.baseLg, "baselg", opt.DefaultFilterBaseLg,
		"binary `logarithm` of the bytes of data that share a filter in goleveldb")
	f.BoolVar(&f.compact, "compact", false, "compact all keys into the deepest level before they "+
		"are looked up, as those of a database that is seldom written to")
	f.StringVar(&f.engines, "engines", "goleveldb,pebblev2",
		"`engines` to run; there is also pebblev1")
	f.StringVar(&f.filters, "filters", join(engine.Filters(), itself),
		"`filters` to compare; ratios are to the first")
	f.StringVar(&f.shape, "shape", "decimal", "`shape` of the keys: "+
		spaced(join(keys.All, keys.ShapeName)))
	f.keysFlag("Without -num and -reads, it stores and looks up at " +
		"most as many as there are")
	f.StringVar(&f.density, "density", "63%", "`part` of a range of keys that is present: "+
		"alternating (every second key), 63% (as LevelDB's db_bench leaves), 10%, or beyond (all; "+
		"absent keys follow). Shapes of programs have their own")
	f.Int64Var(&f.seed, "seed", 1, "`seed` of keys and values")
	f.StringVar(&f.dir, "dir", os.TempDir(), "`directory` for the databases, which are removed")
	f.quickFlag("10,000 keys, 1 round",
		map[string]string{"num": "10000", "reads": "1000", "rounds": "1"})
	return f
}

// config checks the flags and returns what they ask for.
func (f *engineFlags) config() (c enginebench.Config, err error) {
	c = enginebench.Config{
		ValueSize: f.valueSize, Reads: f.reads, Rounds: f.rounds,
		Bits: f.bits, Compact: f.compact, BaseLg: f.baseLg, Seed: f.seed,
	}
	if f.reads < 1 || f.rounds < 1 {
		return c, fmt.Errorf("-reads %d, -rounds %d: pass 1 or more", f.reads, f.rounds)
	}
	c.Disks, err = parseList("disk", f.disks, func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err == nil && (d < 0 || d > time.Second) {
			err = fmt.Errorf("%v: pass 0 to 1s", d)
		}
		return d, err
	})
	if err != nil {
		return c, err
	}
	slices.Sort(c.Disks)
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
	c.Keys, err = f.keys(&c)
	return c, err
}

// keys returns the keys to store and to look up. If they are the user's own, settings that are not
// given fit their number.
func (f *engineFlags) keys(c *enginebench.Config) (*keys.Set, error) {
	own, err := f.ownKeys()
	if err != nil {
		return nil, err
	}
	shape, density, err := f.oneShape(own, f.shape, f.density)
	if err != nil {
		return nil, err
	}
	if own != nil {
		if !f.given["reads"] {
			c.Reads = min(c.Reads, max(1, len(own)/8))
		}
		beyond := c.Reads + 1 // and the guard
		if !f.given["num"] {
			f.num = min(f.num, max(1, own.Most(beyond)))
		}
		if err := own.Fits(f.num, beyond); err != nil {
			return nil, fmt.Errorf("-keys: %w, or a smaller -num or -reads", err)
		}
	}
	return keys.NewSet(shape, density, f.num, c.Reads, f.seed)
}

// engines is the subcommand that compares filters inside the storage engines.
func engines(ctx context.Context, args []string, stdout io.Writer) error {
	f := newEngineFlags()
	config, err := prepare(f.flags, args, stdout, f.config)
	if err != nil {
		return err
	}
	if f.disk, err = verdict.ReadDisk(ctx, f.keysPath); err != nil {
		return err
	}
	if config.Dir, err = os.MkdirTemp(f.dir, "levelbloom-bench-"); err != nil {
		return fmt.Errorf("-dir: %w", err)
	}
	config.Progress = report.ProgressOf(ctx, os.Stderr)
	runs, err := supervise(ctx, &config)
	err = errors.Join(err, removeAll(config.Dir))
	r := f.report()
	for _, e := range config.Engines {
		r.AddVersion(e.Name, report.ModuleVersion(e.Module))
	}
	outcome := enginebench.Outcome{Config: &config, Runs: runs}
	outcome.Report(r)
	record := verdict.Record{Runs: runs, Bits: f.bits, Own: f.keysPath != "", Disk: f.disk}
	r.Conclusion = verdict.Lines(record.Verdicts())
	if f.isQuick {
		r.Conclusion = nil
		r.Notes = append(r.Notes, "-quick is too small for conclusions: run without it for them.")
	}
	return f.outputs.finish(r, stdout, err)
}

// supervise runs config and returns the finished runs when it is done, or some seconds after an
// engine failed or the user interrupted it: engines that cannot write may never return from a call.
func supervise(ctx context.Context, config *enginebench.Config) (
	runs []enginebench.Run, err error) {
	const patience = 2 * time.Second
	ctx, cancel := context.WithCancelCause(ctx)
	config.OnFatal = func(err error) { cancel(err) } // the first one is the cause
	finished := make(chan enginebench.Run)
	done := make(chan error, 1)
	go func() { done <- config.Run(ctx, func(r enginebench.Run) { finished <- r }) }()
	var timeout <-chan time.Time
	ended := ctx.Done()
	for {
		select {
		case r := <-finished:
			runs = append(runs, r)
		case err := <-done:
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return runs, err
		case <-ended:
			timeout, ended = time.After(patience), nil
		case <-timeout:
			return runs, context.Cause(ctx)
		}
	}
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
