package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	pebblev1bloom "github.com/cockroachdb/pebble/bloom"
	pebblev2bloom "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/pebblev1"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/filterbench"
	"github.com/levelbloom/levelbloom/bench/progress"
	"github.com/levelbloom/levelbloom/bench/report"
	"github.com/levelbloom/levelbloom/policy"
)

// filterFlags holds the flags of `bench filters`.
type filterFlags struct {
	bits, rounds                           int
	contestants, works, ns, lengths, mixes string
	seed                                   int64
	quick                                  bool
	cpp, benchstat                         string
	needCPP                                bool // it was asked for
}

// implementation is a contestant of `bench filters` by its name in -contestants.
type implementation struct {
	name, description string
	open              func(filterFlags, *policy.Bloom) (filterbench.Contestant, error)
}

// The implementations, called as engines call them. Those in other engines than their own are left out unless asked for.
var implementations = []implementation{
	{"levelbloom", "through policy.Policy", func(_ filterFlags, p *policy.Bloom) (filterbench.Contestant, error) {
		return filterbench.FromPolicy("levelbloom", filterbench.LevelDBBloom, p), nil
	}},
	{"goleveldb", "its own", func(f filterFlags, _ *policy.Bloom) (filterbench.Contestant, error) {
		return filterbench.FromGoLevelDB("goleveldb", filterbench.LevelDBBloom, filter.NewBloomFilter(f.bits)), nil
	}},
	{"pebblev1", "its own", func(f filterFlags, _ *policy.Bloom) (filterbench.Contestant, error) {
		return filterbench.FromPebbleV1("pebblev1", filterbench.PebbleBloom, pebblev1bloom.FilterPolicy(f.bits)), nil
	}},
	{"pebblev2", "its own", func(f filterFlags, _ *policy.Bloom) (filterbench.Contestant, error) {
		return filterbench.FromPebbleV2("pebblev2", filterbench.PebbleBloom, pebblev2bloom.FilterPolicy(f.bits)), nil
	}},
	{"blocked", "levelbloom's blocked Bloom, through policy.Policy", func(f filterFlags, _ *policy.Bloom) (filterbench.Contestant, error) {
		p, err := policy.NewBlockedBloom(float64(f.bits))
		if err != nil {
			return nil, err
		}
		return filterbench.FromPolicy("blocked", filterbench.BlockedBloom, p), nil
	}},
	fuse("fuse8", filterbench.BinaryFuse8, 11.6),
	fuse("fuse12", filterbench.BinaryFuse12, 18),
	fuse("fuse16", filterbench.BinaryFuse16, 26),
	{"cpp", "C++ LevelDB, if -cpp is there", func(f filterFlags, _ *policy.Bloom) (filterbench.Contestant, error) {
		return filterbench.StartCPP("cpp", f.cpp, f.bits)
	}},
	{"levelbloom/goleveldb", "through its adapter", func(_ filterFlags, p *policy.Bloom) (filterbench.Contestant, error) {
		return filterbench.FromGoLevelDB("levelbloom/goleveldb", filterbench.LevelDBBloom, goleveldb.New(p)), nil
	}},
	{"levelbloom/pebblev1", "through its adapter", func(_ filterFlags, p *policy.Bloom) (filterbench.Contestant, error) {
		return filterbench.FromPebbleV1("levelbloom/pebblev1", filterbench.LevelDBBloom, pebblev1.New(p)), nil
	}},
	{"levelbloom/pebblev2", "through its adapter", func(_ filterFlags, p *policy.Bloom) (filterbench.Contestant, error) {
		return filterbench.FromPebbleV2("levelbloom/pebblev2", filterbench.LevelDBBloom, pebblev2.New(p)), nil
	}},
}

// fuse returns an implementation of binary fuse filters, with a number of bits per key for which the builder takes the
// fingerprints that the name says, from 2,000 keys on.
func fuse(name, encoding string, bitsPerKey float64) implementation {
	return implementation{name, "levelbloom's binary fuse, with fingerprints of so many bits; up to some hundred keys, blocked Bloom", func(filterFlags, *policy.Bloom) (filterbench.Contestant, error) {
		p, err := policy.NewBinaryFuse(bitsPerKey)
		if err != nil {
			return nil, err
		}
		return filterbench.FromPolicy(name, encoding, p), nil
	}}
}

const (
	defaultImplementations = "levelbloom,goleveldb,pebblev1,pebblev2,cpp"
	buildCPP               = "make -C testdata/leveldb build/speed"
)

func parseFilterFlags(args []string, stdout io.Writer) (f filterFlags, settings []report.Setting, err error) {
	set := flag.NewFlagSet("bench filters", flag.ContinueOnError)
	set.IntVar(&f.bits, "bits", 10, "`bits` per key, a whole number")
	set.StringVar(&f.contestants, "contestants", defaultImplementations, "`implementations` to compare; ratios are to the first one, which runs twice: "+
		join(implementations, func(i implementation) string { return fmt.Sprintf("%s (%s)", i.name, i.description) }))
	set.StringVar(&f.works, "work", join(filterbench.Works, func(w filterbench.Work) string { return string(w) }), "`kinds` of work: lookups in one filter, in many filters, of many keys at once; building")
	set.StringVar(&f.ns, "n", "", "`keys` per filter, such as 32,10k,1M, for all kinds of work (default: each has its own)")
	set.StringVar(&f.lengths, "len", "", "`bytes` of the keys, such as 16,24, or mixed for 8 to 64 (default: each kind of work has its own)")
	set.StringVar(&f.mixes, "keys", join(filterbench.Mixes, func(m filterbench.Mix) string { return string(m) }), "`keys` to look up: present, absent, half of both")
	set.IntVar(&f.rounds, "rounds", 11, "`rounds`, in each of which every contestant has a turn; lookups in filters of 1M keys and more have three times as many")
	set.Int64Var(&f.seed, "seed", 1, "`seed` of the order of keys and turns")
	set.BoolVar(&f.quick, "quick", false, "a short run that shows that all works, too small for conclusions: 2 rounds of keys of 16 bytes, up to 10k per filter (-rounds, -len and -n prevail)")
	set.StringVar(&f.cpp, "cpp", filterbench.CPPDefault, "`program` that asks C++ LevelDB; `"+buildCPP+"` makes it")
	set.StringVar(&f.benchstat, "benchstat", "", "`file` to write for benchstat -col /impl, a line per turn")
	given, err := parseFlags(set, args, "Usage: bench filters [flags]\n\nCompares implementations of filters with each other. Building filters of 10M keys takes 3 GB of memory.", stdout)
	if err != nil {
		return f, nil, err
	}
	f.needCPP = given["cpp"] || given["contestants"]
	if f.quick {
		if err := setOthers(set, given, map[string]string{"rounds": "2", "len": "16", "n": "32,10k"}); err != nil {
			return f, nil, err
		}
	}
	if f.rounds < 1 {
		return f, nil, fmt.Errorf("-rounds %d: pass 1 or more", f.rounds)
	}
	if f.bits < 1 || f.bits > 100 {
		return f, nil, fmt.Errorf("-bits %d: pass 1 to 100", f.bits) // with more, the engines' own differ from LevelDB's
	}
	return f, settingsOf(set, "benchstat"), nil
}

// cells returns what the flags ask for.
func (f filterFlags) cells() ([]filterbench.Cell, error) {
	works, err := choose("work", f.works, filterbench.Works, func(w filterbench.Work) string { return string(w) })
	if err != nil {
		return nil, err
	}
	mixes, err := choose("keys", f.mixes, filterbench.Mixes, func(m filterbench.Mix) string { return string(m) })
	if err != nil {
		return nil, err
	}
	ns, err := parseList("n", f.ns, filterbench.ParseN)
	if err != nil {
		return nil, err
	}
	lengths, err := parseList("len", f.lengths, filterbench.ParseLength)
	if err != nil {
		return nil, err
	}
	return filterbench.Cells(works, ns, lengths, mixes), nil
}

// parseList returns the elements of a comma-separated list, nil if it is empty.
func parseList[T any](flag, list string, parse func(string) (T, error)) (all []T, err error) {
	if list == "" {
		return nil, nil
	}
	for _, part := range strings.Split(list, ",") {
		x, err := parse(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("-%s: %w", flag, err)
		}
		all = append(all, x)
	}
	return all, nil
}

// open opens the implementations that the flags name. They are to be closed, in case of an error too.
func (f filterFlags) open() (contestants []filterbench.Contestant, err error) {
	chosen, err := choose("contestants", f.contestants, implementations, func(i implementation) string { return i.name })
	if err != nil {
		return nil, err
	}
	p, err := policy.NewBloom(float64(f.bits))
	if err != nil {
		return nil, fmt.Errorf("-bits: %w", err)
	}
	for _, i := range chosen {
		if _, err := os.Stat(f.cpp); i.name == "cpp" && !f.needCPP && os.IsNotExist(err) {
			fmt.Fprintf(os.Stderr, "bench: without C++ LevelDB: there is no %s, which `%s` makes\n", f.cpp, buildCPP)
			continue
		}
		c, err := i.open(f, p)
		if err != nil {
			return contestants, err
		}
		contestants = append(contestants, c)
	}
	return contestants, nil
}

// filters is the subcommand that compares filters outside of the engines.
func filters(ctx context.Context, args []string, stdout io.Writer) (err error) {
	f, settings, err := parseFilterFlags(args, stdout)
	if err != nil {
		return err
	}
	config := filterbench.Config{Rounds: f.rounds, Seed: f.seed, Progress: progress.New(os.Stderr)}
	if config.Cells, err = f.cells(); err != nil {
		return err
	}
	file, err := newOutput(f.benchstat)
	if err != nil {
		return fmt.Errorf("-benchstat: %w", err)
	}
	defer file.discard()
	config.Contestants, err = f.open()
	defer func() {
		for _, c := range config.Contestants {
			err = errors.Join(err, c.Close())
		}
	}()
	if err != nil {
		return err
	}
	r := filterbench.Report{Machine: report.ThisMachine(), Settings: settings, Contestants: config.Names()}
	for _, e := range engine.Engines {
		r.Versions = append(r.Versions, e.Name()+" "+engine.Version(e))
	}
	for _, c := range config.Contestants {
		if v, ok := c.(interface{ Version() string }); ok {
			r.Versions = append(r.Versions, v.Version())
		}
	}
	if r.Results, err = config.Run(ctx); err != nil {
		return err
	}
	return errors.Join(r.WriteText(stdout), file.write(r.WriteBenchstat))
}
