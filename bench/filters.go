package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// filterFlags is the flags of `bench filters`.
type filterFlags struct {
	*flags
	bits, rounds, memory                        int
	contestants, works, ns, lengths, mixes, cpp string
	seed                                        int64
}

func newFilterFlags() *filterFlags {
	f := &filterFlags{flags: newFlags("filters", "Compares the speed of implementations of "+
		"filters, outside of any engine. The full run takes 3 GB of memory, most of it for "+
		"filters of 10M keys; -quick takes less than 300 MB. To compare with C++ LevelDB, "+
		"build it first: "+
		filterbench.CPPBuild)}
	f.IntVar(&f.bits, "bits", 10, "`bits` per key, a whole number")
	f.StringVar(&f.contestants, "contestants", "goleveldb,pebblev2,cpp,"+join(kind.All, kind.Name),
		"`implementations` to compare; ratios are to the first, which runs twice; bloom@pebblev2 "+
			"and the like are bloom through an engine's adapter")
	f.StringVar(&f.works, "work", join(filterbench.Works, itself), "`kinds` of work")
	f.StringVar(&f.ns, "n", "", "`keys` per filter, such as 32,10k,1M (each work has its own)")
	f.StringVar(&f.lengths, "len", "", "`bytes` of the keys, such as 16,64 (each work has its own)")
	f.StringVar(&f.mixes, "keys", join(filterbench.Mixes, itself),
		"`keys` to look up: hit (present) or miss (absent)")
	f.IntVar(&f.rounds, "rounds", 100,
		"`rounds`; to build filters of 1M keys and more has a tenth of them")
	f.IntVar(&f.memory, "memory", 200, "`MiB` of filters that the work \"many\" asks")
	f.Int64Var(&f.seed, "seed", 1, "`seed` of the order of keys and turns")
	f.StringVar(&f.cpp, "cpp", filterbench.CPPProgram, "`program` that asks C++ LevelDB")
	f.StringVar(&f.outputs.bench.path, "bench", "", "`file` to write every turn to, in Go's "+
		"benchmark format: benchstat -col /filter FILE")
	f.quickFlag("2 rounds, small filters",
		map[string]string{"rounds": "2", "len": "16", "n": "32,10k", "memory": "8"})
	return f
}

// contestant opens the implementation of a name in -contestants: an engine's own filter, C++
// LevelDB, or a kind of levelbloom's, by itself or through an adapter.
func (f *filterFlags) contestant(name string) (filterbench.Contestant, error) {
	switch name {
	case "goleveldb":
		own := filter.NewBloomFilter(f.bits)
		return filterbench.FromGoLevelDB(name, filterbench.LevelDBBloom, own), nil
	case "pebblev2":
		return filterbench.FromPebble(name, name, bloom.FilterPolicy(f.bits)), nil
	case "cpp":
		return filterbench.NewCPP(name, f.cpp, f.bits)
	}
	kindName, adapter, _ := strings.Cut(name, "@")
	k, ok := kind.Named(kindName)
	if ok {
		p, err := k.New(float64(f.bits))
		switch {
		case err != nil:
			return nil, err
		case adapter == "goleveldb":
			return filterbench.FromGoLevelDB(name, k.Name, goleveldb.New(p)), nil
		case adapter == "pebblev2":
			return filterbench.FromPebble(name, k.Name, pebblev2.New(p)), nil
		case adapter == "":
			return filterbench.FromPolicy(name, k.Name, p), nil
		}
	}
	return nil, fmt.Errorf("no %q: choose from goleveldb,pebblev2,cpp,%s, and these with "+
		"@goleveldb or @pebblev2 behind them", name, join(kind.All, kind.Name))
}

// config checks the flags and returns what they ask for, without the contestants.
func (f *filterFlags) config() (c filterbench.Config, err error) {
	c = filterbench.Config{Rounds: f.rounds, Seed: f.seed, ManyBytes: f.memory << 20}
	if f.bits < 1 || f.bits > 100 { // with more, engines' own filters differ from LevelDB's
		return c, fmt.Errorf("-bits %d: pass 1 to 100", f.bits)
	}
	works, err := choose("work", f.works, filterbench.Works, itself)
	if err != nil {
		return c, err
	}
	var ns, lengths []int
	if f.ns != "" {
		if ns, err = parseList("n", f.ns, keys.ParsePerFilter); err != nil {
			return c, err
		}
	}
	if f.lengths != "" {
		if lengths, err = parseList("len", f.lengths, strconv.Atoi); err != nil {
			return c, err
		}
	}
	mixes, err := choose("keys", f.mixes, filterbench.Mixes, itself)
	if err != nil {
		return c, err
	}
	c.Cells = filterbench.Cells(works, ns, lengths, mixes)
	return c, c.Validate()
}

// open opens the contestants.
func (f *filterFlags) open() (contestants []filterbench.Contestant, err error) {
	_, err = parseList("contestants", f.contestants, func(name string) (string, error) {
		c, err := f.contestant(name)
		asked := f.given["cpp"] || f.given["contestants"]
		if name == "cpp" && !asked && errors.Is(err, os.ErrNotExist) {
			fmt.Fprintf(os.Stderr, "bench: without C++ LevelDB, which %s builds\n",
				filterbench.CPPBuild)
			return name, nil
		}
		if err == nil {
			contestants = append(contestants, c)
		}
		return name, err
	})
	return contestants, err
}

// filters is the subcommand that compares the speed of filters outside of the engines.
func filters(ctx context.Context, args []string, stdout io.Writer) error {
	f := newFilterFlags()
	config, err := prepare(f.flags, args, stdout, f.config)
	if err != nil {
		return err
	}
	config.Contestants, err = f.open()
	if err != nil {
		return err
	}
	config.Progress = report.ProgressOf(ctx, os.Stderr)
	results, err := config.Run(ctx)
	r := f.report()
	for _, e := range engine.Engines {
		if strings.Contains(f.contestants, e.Name) {
			r.AddVersion(e.Name, report.ModuleVersion(e.Module))
		}
	}
	for _, c := range config.Contestants {
		if cpp, ok := c.(*filterbench.CPP); ok {
			r.AddVersion("C++ LevelDB", cpp.Version())
		}
	}
	config.Report(r, results)
	return f.outputs.finish(r, stdout, err)
}
