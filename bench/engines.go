package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/keyset"
	"github.com/levelbloom/levelbloom/bench/measure"
	"github.com/levelbloom/levelbloom/bench/progress"
	"github.com/levelbloom/levelbloom/bench/report"
	"github.com/levelbloom/levelbloom/policy"
)

// engineFlags holds the flags of `bench engines`, in the style of LevelDB's db_bench.
type engineFlags struct {
	num, valueSize, reads, rounds, threads int
	baseLg                                 int
	bits, density                          float64
	engines, filters, shape, read, levels  string
	seed                                   int64
	quick                                  bool
	dir, json, csv                         string
}

func parseEngineFlags(args []string, stdout io.Writer) (f engineFlags, settings []report.Setting, err error) {
	set := flag.NewFlagSet("bench engines", flag.ContinueOnError)
	set.IntVar(&f.num, "num", 200_000, "`keys` to store")
	set.IntVar(&f.valueSize, "value-size", 100, "`bytes` of random data per value")
	set.IntVar(&f.reads, "reads", 1<<16, "`lookups` in each pass")
	set.IntVar(&f.rounds, "rounds", 3, "`rounds`, in each of which every contestant runs once")
	set.IntVar(&f.threads, "threads", 1, "`threads` that look up keys")
	set.Float64Var(&f.bits, "bits", 10, "`bits` per key; engines' own filters take whole ones and round up")
	set.StringVar(&f.levels, "levels", "", "`bits` per key of each Pebble level instead of -bits, such as 16,16,14,12,10,10,0 for L0 to L6; 0 is no filter")
	set.IntVar(&f.baseLg, "baselg", opt.DefaultFilterBaseLg, "`lg` of the bytes of data that share a filter in goleveldb (its FilterBaseLg)")
	set.StringVar(&f.read, "read", "get", "`way` to look up keys: get, prefix (Pebble's SeekPrefixGE, which asks filters in L6 too), or both")
	set.StringVar(&f.engines, "engines", join(engine.Engines, engine.Engine.Name), "`engines` to run")
	set.StringVar(&f.filters, "filters", "none,builtin,levelbloom,blocked", "`filters` to compare; the last one runs twice, which shows the noise. There is also fuse, binary fuse, whose builder writes blocked Bloom where that has fewer false positives: with the other flags' defaults in all engines, with -bits=12 -baselg=18 hardly ever")
	set.StringVar(&f.shape, "shape", "decimal", "`shape` of the keys: "+describeShapes())
	set.Float64Var(&f.density, "density", 0.63, "`part` of the possible keys in the keys' range that are present; db_bench's fillrandom leaves 0.63")
	set.Int64Var(&f.seed, "seed", 1, "`seed` of keys and values")
	set.BoolVar(&f.quick, "quick", false, "a short run that shows that all works, too small for conclusions: 10,000 keys, 5,000 lookups (-num and -reads prevail)")
	set.StringVar(&f.dir, "dir", os.TempDir(), "`directory` in which to make a temporary one for the databases")
	set.StringVar(&f.json, "json", "", "`file` to write as JSON")
	set.StringVar(&f.csv, "csv", "", "`file` to write as CSV, a line per run and way to look up keys")
	given, err := parseFlags(set, args, "Usage: bench [engines] [flags]\n\nLoads real databases, with and without filters, and measures what the filters do.", stdout)
	if err != nil {
		return f, nil, err
	}
	if f.quick {
		if err := setOthers(set, given, map[string]string{"num": "10000", "reads": "5000"}); err != nil {
			return f, nil, err
		}
	}
	if err := goleveldb.WithFilterBaseLg(f.baseLg)(&opt.Options{}); err != nil {
		return f, nil, fmt.Errorf("-baselg: %w", err)
	}
	for name, n := range map[string]int{"reads": f.reads, "rounds": f.rounds, "threads": f.threads} {
		if n < 1 {
			return f, nil, fmt.Errorf("-%s %d: pass 1 or more", name, n)
		}
	}
	if f.valueSize < 0 || f.valueSize > 1<<20 {
		return f, nil, fmt.Errorf("-value-size %d: pass 0 to 1048576", f.valueSize)
	}
	return f, settingsOf(set, "json", "csv"), nil
}

func describeShapes() string {
	var all []string
	for _, s := range keyset.Shapes {
		all = append(all, fmt.Sprintf("%s (%s)", s.Name, s.Description))
	}
	return strings.Join(all, ", ")
}

func join[T any](all []T, name func(T) string) string {
	var names []string
	for _, x := range all {
		names = append(names, name(x))
	}
	return strings.Join(names, ",")
}

// choose returns the elements of all that a comma-separated list names, in the list's order.
func choose[T any](flag, list string, all []T, name func(T) string) (chosen []T, err error) {
	var seen []string
	for _, want := range strings.Split(list, ",") {
		want = strings.TrimSpace(want)
		i := slices.IndexFunc(all, func(x T) bool { return name(x) == want })
		if i < 0 {
			return nil, fmt.Errorf("-%s: no %q: choose from %s", flag, want, join(all, name))
		}
		if slices.Contains(seen, want) {
			return nil, fmt.Errorf("-%s: %q is named twice", flag, want)
		}
		seen = append(seen, want)
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// parseLevels returns the bits per key of every level.
func parseLevels(list string, bits float64) (levels engine.Levels, err error) {
	if _, err := policy.NewBloom(bits); err != nil {
		return levels, fmt.Errorf("-bits: %w", err)
	}
	if list == "" {
		return engine.AllButL6(bits), nil
	}
	parts := strings.Split(list, ",")
	if len(parts) != engine.NumLevels {
		return levels, fmt.Errorf("-levels %s: %d levels: pass %d, L0 first, 0 for no filter", list, len(parts), engine.NumLevels)
	}
	for i, part := range parts {
		if levels[i], err = strconv.ParseFloat(strings.TrimSpace(part), 64); err != nil {
			return levels, fmt.Errorf("-levels %s: %q is no number", list, part)
		}
		if levels[i] == 0 {
			continue
		}
		if _, err := policy.NewBloom(levels[i]); err != nil {
			return levels, fmt.Errorf("-levels %s: L%d: %w", list, i, err)
		}
	}
	return levels, nil
}

func parseRead(read string) ([]engine.Read, error) {
	if read == "both" {
		return engine.Reads, nil
	}
	if !slices.Contains(engine.Reads, engine.Read(read)) {
		return nil, fmt.Errorf("-read: no %q: choose get, prefix or both", read)
	}
	return []engine.Read{engine.Read(read)}, nil
}

// engines is the subcommand that compares filters inside the storage engines.
func engines(ctx context.Context, args []string, stdout io.Writer) error {
	f, settings, err := parseEngineFlags(args, stdout)
	if err != nil {
		return err
	}
	shape, err := keyset.ShapeNamed(f.shape)
	if err != nil {
		return fmt.Errorf("-shape: %w", err)
	}
	keys, err := keyset.New(shape, f.num, f.density, f.seed)
	if err != nil {
		return err
	}
	config := measure.Config{
		Keys: keys, ValueSize: f.valueSize, Reads: f.reads, Threads: f.threads, Rounds: f.rounds,
		Bits: f.bits, BaseLg: f.baseLg, Seed: f.seed, Progress: progress.New(os.Stderr),
	}
	if config.Levels, err = parseLevels(f.levels, f.bits); err != nil {
		return err
	}
	if config.Read, err = parseRead(f.read); err != nil {
		return err
	}
	if config.Engines, err = choose("engines", f.engines, engine.Engines, engine.Engine.Name); err != nil {
		return err
	}
	for _, e := range config.Engines {
		if len(config.ReadsOf(e)) == 0 {
			return fmt.Errorf("-read %s: %s has no such way: pass -read both or other -engines", f.read, e.Name())
		}
	}
	if config.Filters, err = choose("filters", f.filters, engine.Filters, func(f engine.Filter) string { return string(f) }); err != nil {
		return err
	}

	if f.json != "" && filepath.Clean(f.json) == filepath.Clean(f.csv) {
		return fmt.Errorf("-json and -csv both name %s: pass two files", f.json)
	}
	jsonFile, err := newOutput(f.json)
	if err != nil {
		return fmt.Errorf("-json: %w", err)
	}
	defer jsonFile.discard()
	csvFile, err := newOutput(f.csv)
	if err != nil {
		return fmt.Errorf("-csv: %w", err)
	}
	defer csvFile.discard()
	space, err := newWorkspace(f.dir)
	if err != nil {
		return fmt.Errorf("-dir: %w", err)
	}
	config.Dir = space.dir
	runs, err := supervise(ctx, &config.OnFatal, config.Run)
	if err := errors.Join(err, space.remove()); err != nil {
		return err
	}

	r := report.Report{
		Machine:    report.ThisMachine(),
		Settings:   settings,
		SmallCache: config.SmallCache(),
		LargeCache: config.LargeCache(),
		Lookups:    f.reads,
		Runs:       runs,
	}
	for _, e := range config.Engines {
		r.Engines = append(r.Engines, report.Engine{
			Name: e.Name(), Version: engine.Version(e), Contestants: config.Contestants(e), Reads: config.ReadsOf(e), Bits: e.Bits(engine.Config{Bits: config.Bits, Levels: config.Levels}),
		})
	}
	return errors.Join(
		r.WriteText(stdout),
		jsonFile.write(r.WriteJSON),
		csvFile.write(r.WriteCSV),
	)
}
