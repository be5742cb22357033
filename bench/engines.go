package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// enginesCommand compares filters inside the storage engines.
type enginesCommand struct {
	Num       count         `default:"150k" quick:"20k" help:"Keys to store."`
	ValueSize int           `default:"100" help:"Bytes of random data per value."`
	Reads     int           `default:"4096" quick:"2000" help:"Lookups in each pass."`
	Disk      time.Duration `default:"100us" help:"How long a read of table data waits."`
	Cached    bool          `help:"Give the block cache room for all of the data."`
	Rounds    int           `default:"3" quick:"1" help:"Turns of each filter."`
	Bits      int           `default:"10" help:"Bits per key, a whole number."`
	Baselg    int           `default:"11" help:"Binary logarithm of goleveldb's windows."`
	Compact   bool          `help:"Compact all keys into the deepest level before lookups."`
	Engines   []string      `default:"goleveldb,pebblev2" enum:"${engines}" help:"${enum}."`
	Filters   specs         `default:"${engineFilters}" help:"Ratios are to the first."`
	Seed      int64         `default:"1" help:"Seed of keys and values."`
	Dir       string        `default:"${tmp}" help:"Directory for the databases."`
	Quick     bool          `help:"A short run, whose figures have wide intervals."`
	Shape     string        `default:"decimal" enum:"${shapes}" help:"Shape of the keys."`
	Density   string        `default:"63%" enum:"${all}" help:"${densityHelp}"`
	outputs
}

func (*enginesCommand) Help() string {
	return `Fills temporary databases, with and without filters, looks keys up in them, and removes
them. First it counts false positives. Then it times lookups, in which a read of table data waits as
long as on a disk (--disk). The last filter has two turns in each round: the difference between them
is noise. For a database that you have, use filterdump: it counts what lookups read there.

` + filtersHelp + ` none is no filter, builtin is each engine's own, ribbon+L6 consults the filters
in Pebble's L6 too.

` + shapesHelp()
}

// Run is the subcommand.
func (f *enginesCommand) Run(j *job) error { return f.outputs.run(j, f.measure) }

func (f *enginesCommand) measure(j *job) (*report.Report, error) {
	config, err := f.config(j)
	if err != nil {
		return nil, err
	}
	runs, err := config.Supervise(j.ctx)
	if len(runs) == 0 {
		return nil, err
	}
	r := j.report(err)
	r.Title = "Simulated: these are temporary databases, which bench filled."
	outcome := enginebench.Outcome{Config: &config, Runs: runs}
	outcome.Report(r)
	r.Notes = append(r.Notes, "For a database that you have, filterdump counts what lookups read, "+
		"and says what to change there:", report.Code+
		"go run github.com/levelbloom/levelbloom/sstable/filterdump@latest DIRECTORY")
	return r, err
}

// config returns what the flags ask for.
func (f *enginesCommand) config(j *job) (c enginebench.Config, err error) {
	c = enginebench.Config{
		ValueSize: f.ValueSize, Reads: f.Reads, Disk: f.Disk, Cached: f.Cached, Rounds: f.Rounds,
		Compact: f.Compact, Bits: f.Bits, BaseLg: f.Baselg, Filters: f.Filters, Seed: f.Seed,
		Dir: f.Dir, Progress: j.progress,
	}
	for _, e := range engine.Engines {
		if slices.Contains(f.Engines, e.Name) {
			c.Engines = append(c.Engines, e)
		}
	}
	if err := c.Validate(); err != nil {
		return c, err
	}
	c.Keys, err = f.keys(j)
	return c, err
}

// keys returns the keys of the databases.
func (f *enginesCommand) keys(j *job) (*keys.Set, error) {
	source := sources([]string{f.Shape}, []string{f.Density})[0]
	j.notes = append(j.notes, fmt.Sprintf("Keys: %s, such as %s: %s.", f.Shape,
		source.Shape.Example(), source.Density.Doc))
	set := source.Set(int(f.Num), f.Reads, f.Seed)
	if len(set.Between) == 0 {
		return nil, fmt.Errorf("--num %v: no absent keys lie between so few: pass more", f.Num)
	}
	return set, nil
}
