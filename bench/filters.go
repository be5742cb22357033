package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/progress"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// filterFlags is the flags of `bench filters`.
type filterFlags struct {
	*flags
	bits, rounds, memory                   int
	contestants, works, ns, lengths, mixes string
	seed                                   int64
	quick                                  bool
	cpp                                    string
}

// An implementation is a contestant of `bench filters` by its name in -contestants.
type implementation struct {
	name string
	open func(*filterFlags) (filterbench.Contestant, error)
}

// implementations returns engines' own filters, C++ LevelDB, and levelbloom's kinds: by themselves
// and through the adapters.
func implementations() []implementation {
	all := []implementation{
		{"goleveldb", func(f *filterFlags) (filterbench.Contestant, error) {
			own := filter.NewBloomFilter(f.bits)
			return filterbench.FromGoLevelDB("goleveldb", filterbench.LevelDBBloom, own), nil
		}},
		{"pebblev2", func(f *filterFlags) (filterbench.Contestant, error) {
			return filterbench.FromPebble(
				"pebblev2",
				filterbench.PebbleBloom,
				bloom.FilterPolicy(f.bits),
			), nil
		}},
		{"cpp", func(f *filterFlags) (filterbench.Contestant, error) {
			return filterbench.StartCPP("cpp", f.cpp, f.bits)
		}},
	}
	for _, through := range []string{"", "/goleveldb", "/pebblev2"} {
		for _, k := range kind.All {
			name := k.Name + through
			all = append(
				all,
				implementation{name, func(f *filterFlags) (filterbench.Contestant, error) {
					p, err := k.New(float64(f.bits))
					switch {
					case err != nil:
						return nil, err
					case through == "/goleveldb":
						return filterbench.FromGoLevelDB(
							name,
							k.Encoding.String(),
							goleveldb.New(p),
						), nil
					case through == "/pebblev2":
						return filterbench.FromPebble(
							name,
							k.Encoding.String(),
							pebblev2.New(p),
						), nil
					}
					return filterbench.FromPolicy(name, k.Encoding.String(), p), nil
				}},
			)
		}
	}
	return all
}

func implementationName(i implementation) string { return i.name }

func newFilterFlags() *filterFlags {
	f := &filterFlags{flags: newFlags("filters", "Compares the speed of implementations of "+
		"filters, "+
		"outside of any engine. The full run takes 3 GB of memory, most of it for filters of 10M "+
		"keys; "+
		"-quick takes less than 300 MB. To compare with C++ LevelDB, build it first: "+
		""+filterbench.CPPBuild)}
	f.IntVar(&f.bits, "bits", 10, "`bits` per key, a whole number")
	f.StringVar(
		&f.contestants,
		"contestants",
		"goleveldb,pebblev2,cpp,"+join(kind.All, kind.Name),
		"`implementations` to compare; ratios are to the first, which runs twice; exact/pebblev2 "+
			"and the like are exact through an engine's adapter",
	)
	f.StringVar(&f.works, "work", join(filterbench.Works, itself), "`kinds` of work")
	f.StringVar(&f.ns, "n", "", "`keys` per filter, such as 32,10k,1M (each work has its own)")
	f.StringVar(&f.lengths, "len", "", "`bytes` of the keys, such as 16,64 (each work has its own)")
	f.StringVar(
		&f.mixes,
		"keys",
		join(filterbench.Mixes, itself),
		"`keys` to look up: hit (present) or miss (absent)",
	)
	f.IntVar(
		&f.rounds,
		"rounds",
		11,
		"`rounds`; lookups in filters of 1M keys have three times as many",
	)
	f.IntVar(&f.memory, "memory", 200, "`MiB` of filters that the work \"many\" asks")
	f.Int64Var(&f.seed, "seed", 1, "`seed` of the order of keys and turns")
	f.StringVar(&f.cpp, "cpp", filterbench.CPPProgram, "`program` that asks C++ LevelDB")
	f.BoolVar(&f.quick, "quick", false, "a short run, too small for conclusions: 2 rounds, small "+
		"filters")
	return f
}

// config checks the flags and returns what they ask for, without the contestants.
func (f *filterFlags) config() (c filterbench.Config, err error) {
	c = filterbench.Config{Rounds: f.rounds, Seed: f.seed, ManyBytes: f.memory << 20}
	if f.rounds < 1 {
		return c, fmt.Errorf("-rounds %d: pass 1 or more", f.rounds)
	}
	if f.bits < 1 || f.bits > 100 { // with more, engines' own filters differ from LevelDB's
		return c, fmt.Errorf("-bits %d: pass 1 to 100", f.bits)
	}
	if f.memory < 1 || f.memory > 4096 {
		return c, fmt.Errorf("-memory %d: pass 1 to 4096", f.memory)
	}
	works, err := choose("work", f.works, filterbench.Works, itself)
	if err != nil {
		return c, err
	}
	var ns, lengths []int
	if f.ns != "" {
		if ns, err = parseList("n", f.ns, keys.ParseN); err != nil {
			return c, err
		}
	}
	if f.lengths != "" {
		if lengths, err = parseList("len", f.lengths, filterbench.ParseLength); err != nil {
			return c, err
		}
	}
	mixes, err := choose("keys", f.mixes, filterbench.Mixes, itself)
	if err != nil {
		return c, err
	}
	c.Cells = filterbench.Cells(works, ns, lengths, mixes)
	return c, nil
}

// open opens the implementations that the flags name. They are to be closed, after an error too.
func (f *filterFlags) open() (contestants []filterbench.Contestant, err error) {
	chosen, err := choose("contestants", f.contestants, implementations(), implementationName)
	if err != nil {
		return nil, err
	}
	for _, i := range chosen {
		c, err := i.open(f)
		asked := f.given["cpp"] || f.given["contestants"]
		if err != nil && i.name == "cpp" && !asked && errors.Is(err, os.ErrNotExist) {
			fmt.Fprintf(os.Stderr, "bench: without C++ LevelDB, which %s "+
				"builds\n", filterbench.CPPBuild)
			continue
		}
		if err != nil {
			return contestants, err
		}
		contestants = append(contestants, c)
	}
	return contestants, nil
}

// filters is the subcommand that compares the speed of filters outside of the engines.
func filters(ctx context.Context, args []string, stdout io.Writer) (err error) {
	f := newFilterFlags()
	err = f.parse(
		args,
		stdout,
		map[string]string{"rounds": "2", "len": "16", "n": "32,10k", "memory": "8"},
	)
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
	config.Contestants, err = f.open()
	defer func() {
		for _, c := range config.Contestants {
			err = errors.Join(err, c.Close())
		}
	}()
	if err != nil {
		return err
	}
	config.Progress = progress.New(os.Stderr)
	results, err := config.Run(ctx)
	r := f.report()
	for _, e := range engine.Engines {
		if strings.Contains(f.contestants, e.Name) {
			r.Versions = append(
				r.Versions,
				report.Setting{Name: e.Name, Value: report.ModuleVersion(e.Module)},
			)
		}
	}
	for _, c := range config.Contestants {
		if cpp, ok := c.(*filterbench.CPP); ok {
			r.Versions = append(
				r.Versions,
				report.Setting{Name: "C++ LevelDB", Value: cpp.Version()},
			)
		}
	}
	config.Report(r, results)
	return f.outputs.finish(r, stdout, err)
}
