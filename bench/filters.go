package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy"
)

// filtersCommand compares the speed of filters outside of the engines.
type filtersCommand struct {
	Filters specs              `default:"goleveldb,pebblev2,cpp,bloom,tuned,ribbon" help:"Filters."`
	Bits    int                `default:"10" help:"Bits per key, a whole number."`
	Work    []filterbench.Work `default:"${works}" enum:"${works}" help:"Kinds of work."`
	N       []count            `short:"n" quick:"32,10k" help:"Keys per filter, such as 32,10k,1M."`
	Len     []int              `quick:"16" help:"Bytes of the keys, such as 16,64."`
	Lookups []filterbench.Mix  `default:"hit,miss" enum:"hit,miss" help:"Keys: present, absent."`
	Rounds  int                `default:"100" quick:"2" help:"Turns of each filter."`
	Memory  int                `default:"200" quick:"8" help:"MiB of filters for the work many."`
	Cpp     string             `default:"${cpp}" help:"Program that runs C++ LevelDB's filters."`
	Seed    int64              `default:"1" help:"Seed of the order of keys and turns."`
	Quick   bool               `help:"A short run: 2 rounds, small filters."`
	Bench   output             `group:"Output" placeholder:"FILE" help:"Write turns for benchstat."`
	outputs
}

func (*filtersCommand) Help() string {
	return `Compares the speed of implementations of filters, outside of any engine. Each kind of work
has its own -n and --len, unless they are given. The full run takes 3 GB of memory, most of it for
filters of 10M keys; --quick takes less than 300 MB.

` + filtersHelp + ` goleveldb and pebblev2 are the engines' own, and bloom@pebblev2 and the like are
called through an engine's adapter. cpp is C++ LevelDB's; to build it: ` + filterbench.CPPBuild + `.
Ratios are to the first filter, which has two turns in each round: the difference is noise.
benchstat -col /filter FILE reads what --bench FILE writes.`
}

// Run is the subcommand.
func (f *filtersCommand) Run(j *job) (err error) {
	config := filterbench.Config{
		Rounds: f.Rounds, Seed: f.Seed, ManyBytes: f.Memory << 20, Progress: j.progress(),
		Cells: filterbench.Cells(f.Work, counts(f.N), f.Len, f.Lookups),
	}
	if err := config.Validate(); err != nil {
		return err
	}
	if config.Contestants, err = f.contestants(j); err != nil {
		return err
	}
	results, err := config.Run(j.ctx)
	r := j.report()
	f.outputs.Bench = f.Bench
	for _, e := range engine.Engines {
		if slices.Contains(f.Filters, e.Name) {
			r.AddVersion(e.Name, report.ModuleVersion(e.Module))
		}
	}
	for _, c := range config.Contestants {
		if cpp, ok := c.(*filterbench.CPP); ok {
			r.AddVersion("C++ LevelDB", cpp.Version())
		}
	}
	config.Report(r, results)
	return f.finish(r, j.stdout, err)
}

// contestants returns the filters. C++ LevelDB may be missing unless it was asked for.
func (f *filtersCommand) contestants(j *job) (all []filterbench.Contestant, err error) {
	if f.Bits < 1 || f.Bits > 100 { // with more, engines' own filters differ from LevelDB's
		return nil, fmt.Errorf("--bits %d: pass 1 to 100", f.Bits)
	}
	for _, spec := range f.Filters {
		c, err := f.contestant(spec)
		asked := j.given("cpp") || j.given("filters")
		if spec == "cpp" && !asked && errors.Is(err, os.ErrNotExist) {
			fmt.Fprintf(os.Stderr, "bench: without C++ LevelDB, which %s builds\n",
				filterbench.CPPBuild)
			continue
		}
		if err != nil {
			return all, fmt.Errorf("--filters: %w", err)
		}
		all = append(all, c)
	}
	return all, nil
}

// contestant opens a filter: an engine's own, C++ LevelDB's, or levelbloom's, which may be called
// through an adapter.
func (f *filtersCommand) contestant(name string) (filterbench.Contestant, error) {
	switch name {
	case "goleveldb":
		own := filter.NewBloomFilter(f.Bits)
		return filterbench.FromGoLevelDB(name, filterbench.LevelDBBloom, own), nil
	case "pebblev2":
		return filterbench.FromPebble(name, name, bloom.FilterPolicy(f.Bits)), nil
	case "cpp":
		return filterbench.NewCPP(name, f.Cpp, f.Bits)
	}
	spec, adapter, _ := strings.Cut(name, "@")
	p, err := policy.FromString(withBits(spec, float64(f.Bits)))
	switch {
	case err != nil:
		return nil, err
	case adapter == "":
		return filterbench.FromPolicy(name, spec, p), nil
	case adapter == "goleveldb":
		return filterbench.FromGoLevelDB(name, spec, goleveldb.New(p)), nil
	case adapter == "pebblev2":
		return filterbench.FromPebble(name, spec, pebblev2.New(p)), nil
	}
	return nil, fmt.Errorf("%q has no such adapter: write @goleveldb or @pebblev2", name)
}
