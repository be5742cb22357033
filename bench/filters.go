package main

import (
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy"
)

// filtersCommand compares the speed of filters outside of the engines.
type filtersCommand struct {
	Filters specs              `default:"goleveldb,pebblev2,bloom,tuned,ribbon" help:"Filters."`
	Bits    int                `default:"10" help:"Bits per key, a whole number."`
	Work    []filterbench.Work `default:"${works}" enum:"${works}" help:"Kinds of work."`
	N       []count            `short:"n" default:"${filterNs}" quick:"36,10k" help:"Keys per filter."`
	Rounds  int                `default:"60" quick:"2" help:"Turns of each filter."`
	Seed    int64              `default:"1" help:"Seed of the order of keys and turns."`
	Quick   bool               `help:"A short run: 2 rounds, small filters."`
	Bench   output             `group:"Output" placeholder:"FILE" help:"Write turns for benchstat."`
	outputs
}

func (*filtersCommand) Help() string {
	return `Compares the speed of implementations of filters, outside of any engine: lookups of
present keys (hit) and of absent ones (miss), and building. Filters of 10M keys take 1 GB of memory.

` + filtersHelp + ` goleveldb and pebblev2 are the engines' own.
Ratios are to the first filter, which has two turns in each round: the difference is noise.
benchstat -col /filter FILE reads what --bench FILE writes.`
}

// Run is the subcommand.
func (f *filtersCommand) Run(j *job) (err error) {
	config := filterbench.Config{
		Works: f.Work, Ns: counts(f.N), Rounds: f.Rounds, Seed: f.Seed, Progress: j.progress(),
	}
	if err := config.Validate(); err != nil {
		return err
	}
	if config.Contestants, err = f.contestants(); err != nil {
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
	config.Report(r, results)
	return f.finish(r, j.stdout, err)
}

// contestants returns the filters: engines' own, and levelbloom's.
func (f *filtersCommand) contestants() (all []filterbench.Contestant, err error) {
	if f.Bits < 1 || f.Bits > 100 { // with more, engines' own filters differ from LevelDB's
		return nil, fmt.Errorf("--bits %d: pass 1 to 100", f.Bits)
	}
	for _, name := range f.Filters {
		switch name {
		case "goleveldb":
			all = append(all, filterbench.FromGoLevelDB(name, filter.NewBloomFilter(f.Bits)))
		case "pebblev2":
			all = append(all, filterbench.FromPebble(name, bloom.FilterPolicy(f.Bits)))
		default:
			p, err := policy.FromString(withBits(name, float64(f.Bits)))
			if err != nil {
				return nil, fmt.Errorf("--filters: %w", err)
			}
			all = append(all, filterbench.FromPolicy(name, name, p))
		}
	}
	return all, nil
}
