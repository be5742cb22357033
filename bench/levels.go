package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/keyset"
	"github.com/levelbloom/levelbloom/bench/levelbench"
	"github.com/levelbloom/levelbloom/bench/progress"
	"github.com/levelbloom/levelbloom/bench/report"
)

// levelFlags holds the flags of `bench levels`.
type levelFlags struct {
	plans, shape, read                 string
	split, keys, operations, valueSize int
	factor, rounds                     int
	bits, writes, hits, density        float64
	seed                               int64
	quick                              bool
	dir                                string
}

func parseLevelFlags(args []string, stdout io.Writer) (f levelFlags, settings []report.Setting, err error) {
	set := flag.NewFlagSet("bench levels", flag.ContinueOnError)
	set.StringVar(&f.plans, "plans", "blocked,fuse,blocked/fuse,fuse/blocked,exact,builtin,none",
		"`plans` to compare: an encoding for all levels, or one for the upper levels and, behind a slash, one for the lower ones, of "+
			join(levelbench.Encodings, func(e levelbench.Encoding) string { return fmt.Sprintf("%s (%s)", e.Name, e.Description) })+"; the first one runs twice, which shows the noise")
	set.IntVar(&f.split, "split", 4, "`level` that is the first of the lower ones")
	set.Float64Var(&f.bits, "bits", 11, "`bits` per key; Pebble's own filters take whole ones and round up")
	set.IntVar(&f.keys, "num", 1_000_000, "`keys` to load first")
	set.IntVar(&f.operations, "ops", 1_000_000, "`operations` to do then")
	set.Float64Var(&f.writes, "writes", 30, "`per cent` of the operations that store a key; half of them one that was loaded, half a new one")
	set.Float64Var(&f.hits, "hits", 10, "`per cent` of the lookups that look up a present key")
	set.IntVar(&f.valueSize, "value-size", 100, "`bytes` of random data per value")
	set.StringVar(&f.read, "read", "get", "`way` to look up keys: get, or prefix (SeekPrefixGE, which asks filters in L6 too; then there are some)")
	set.IntVar(&f.factor, "factor", 4, "`times` that a level is larger than the one above; Pebble's default is 10, which some 100 MB of data fill fewer levels with")
	set.StringVar(&f.shape, "shape", "decimal", "`shape` of the keys: "+describeShapes())
	set.Float64Var(&f.density, "density", 0.63, "`part` of the possible keys in the keys' range that are stored in the end")
	set.IntVar(&f.rounds, "rounds", 3, "`rounds`, in each of which every plan runs once")
	set.Int64Var(&f.seed, "seed", 1, "`seed` of keys, values and operations")
	set.BoolVar(&f.quick, "quick", false, "a short run that shows that all works, too small for conclusions: 60,000 keys, 60,000 operations, 1 round (-num, -ops and -rounds prevail)")
	set.StringVar(&f.dir, "dir", os.TempDir(), "`directory` in which to make a temporary one for the databases")
	given, err := parseFlags(set, args, "Usage: bench levels [flags]\n\nCompares which encoding the filters of each level of a Pebble v2 database have, while keys are written and looked up.", stdout)
	if err != nil {
		return f, nil, err
	}
	if f.quick {
		if err := setOthers(set, given, map[string]string{"num": "60000", "ops": "60000", "rounds": "1"}); err != nil {
			return f, nil, err
		}
	}
	return f, settingsOf(set), nil
}

// config returns what the flags ask for.
func (f levelFlags) config() (c levelbench.Config, err error) {
	c = levelbench.Config{
		Bits: f.bits, Keys: f.keys, Operations: f.operations, Writes: f.writes / 100, Hits: f.hits / 100, ValueSize: f.valueSize,
		Density: f.density, Read: engine.Read(f.read), Factor: f.factor, Rounds: f.rounds, Seed: f.seed, Progress: progress.New(os.Stderr),
	}
	if f.split < 1 || f.split >= engine.NumLevels {
		return c, fmt.Errorf("-split %d: pass 1 to %d", f.split, engine.NumLevels-1)
	}
	if !slices.Contains(engine.Reads, c.Read) {
		return c, fmt.Errorf("-read: no %q: choose get or prefix", f.read)
	}
	if c.Shape, err = keyset.ShapeNamed(f.shape); err != nil {
		return c, fmt.Errorf("-shape: %w", err)
	}
	for _, name := range strings.Split(f.plans, ",") {
		plan, err := levelbench.ParsePlan(strings.TrimSpace(name), f.split)
		if err != nil {
			return c, fmt.Errorf("-plans: %w", err)
		}
		if slices.ContainsFunc(c.Plans, func(p levelbench.Plan) bool { return p.Name == plan.Name }) {
			return c, fmt.Errorf("-plans: %q is named twice", plan.Name)
		}
		c.Plans = append(c.Plans, plan)
	}
	return c, c.Check()
}

// levels is the subcommand that compares encodings by level, in Pebble v2.
func levels(ctx context.Context, args []string, stdout io.Writer) error {
	f, settings, err := parseLevelFlags(args, stdout)
	if err != nil {
		return err
	}
	config, err := f.config()
	if err != nil {
		return err
	}
	space, err := newWorkspace(f.dir)
	if err != nil {
		return fmt.Errorf("-dir: %w", err)
	}
	config.Dir = space.dir
	outcome, err := supervise(ctx, &config.OnFatal, config.Run)
	if err := errors.Join(err, space.remove()); err != nil {
		return err
	}
	r := levelbench.Report{
		Machine: report.ThisMachine(), Settings: settings, Version: pebbleVersion(), Plans: config.Contestants(),
		Split: f.split, Outcome: outcome,
	}
	return r.WriteText(stdout)
}

func pebbleVersion() string {
	i := slices.IndexFunc(engine.Engines, func(e engine.Engine) bool { return e.Name() == "pebblev2" })
	return engine.Version(engine.Engines[i])
}
