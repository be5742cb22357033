package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/bench/internal/verdict"
)

// enginesCommand compares filters inside the storage engines.
type enginesCommand struct {
	Num       count           `default:"150k" quick:"10k" help:"Keys to store."`
	ValueSize int             `default:"100" help:"Bytes of random data per value."`
	Reads     int             `default:"8192" quick:"1000" help:"Lookups in each pass."`
	Disk      []time.Duration `default:"0s,100us" help:"How long reads of table data wait."`
	Rounds    int             `default:"3" quick:"1" help:"Turns of each filter."`
	Bits      float64         `default:"10" help:"Bits per key; engines' own filters round up."`
	Baselg    int             `default:"11" help:"Binary logarithm of goleveldb's windows."`
	Compact   bool            `help:"Compact all keys into the deepest level before lookups."`
	Engines   []string        `default:"goleveldb,pebblev2" enum:"${engines}" help:"${enum}."`
	Filters   specs           `default:"${engineFilters}" help:"Ratios are to the first."`
	Seed      int64           `default:"1" help:"Seed of keys and values."`
	Dir       string          `default:"${tmp}" help:"Directory for the databases."`
	Quick     bool            `help:"A short run, too small for conclusions."`
	keyFlags
	outputs
}

func (*enginesCommand) Help() string {
	return `Loads real databases, with and without filters, and measures what the filters do. The
databases are removed. The last filter has two turns in each round: the difference between them is
noise. With --disk 0s,10us,100us,1ms, reads of table data wait as on disks that take that long;
loads do not wait.

` + filtersHelp + ` none is no filter, builtin each engine's own, ribbon+L6 asks the filters in
Pebble's L6 too.

` + shapesHelp()
}

// Run is the subcommand.
func (f *enginesCommand) Run(j *job) error { return f.outputs.run(j, f) }

func (f *enginesCommand) measure(j *job) (*report.Report, error) {
	config, err := f.config(j)
	if err != nil {
		return nil, err
	}
	disk, err := verdict.ReadDisk(j.ctx, f.Keys)
	if err != nil {
		return nil, fmt.Errorf("--keys: %w", err)
	}
	runs, err := config.Supervise(j.ctx)
	if len(runs) == 0 {
		return nil, err
	}
	r := j.report(err)
	outcome := enginebench.Outcome{Config: &config, Runs: runs}
	outcome.Report(r)
	if f.Quick {
		r.Notes = append(r.Notes, "--quick is too small for conclusions: run without it for them.")
	} else {
		record := verdict.Record{Runs: runs, Bits: f.Bits, Own: f.Keys != "", Disk: disk}
		r.Conclusion = verdict.Lines(record.Verdicts())
	}
	return r, err
}

// config returns what the flags ask for.
func (f *enginesCommand) config(j *job) (c enginebench.Config, err error) {
	c = enginebench.Config{
		ValueSize: f.ValueSize, Reads: f.Reads, Rounds: f.Rounds, Disks: f.Disk, Bits: f.Bits,
		BaseLg: f.Baselg, Compact: f.Compact, Seed: f.Seed, Dir: f.Dir, Progress: j.progress,
	}
	for _, e := range engine.Engines {
		if slices.Contains(f.Engines, e.Name) {
			c.Engines = append(c.Engines, e)
		}
	}
	for _, spec := range f.Filters {
		if slices.Contains(f.Engines, spec) {
			spec = engine.BuiltIn
		}
		c.Filters = append(c.Filters, spec)
	}
	c.Filters = slices.Compact(c.Filters)
	if err := c.Validate(); err != nil {
		return c, err
	}
	shape, own, err := f.choose(j)
	if err != nil {
		return c, err
	}
	if own != nil {
		if err := f.fit(j, &c, own); err != nil {
			return c, err
		}
	}
	c.Keys, err = keys.NewSet(shape, shape.Density, int(f.Num), c.Reads, f.Seed)
	return c, err
}

// fit makes settings that are not given fit the number of the user's own keys.
func (f *enginesCommand) fit(j *job, c *enginebench.Config, own keys.List) error {
	if !j.given("reads") {
		c.Reads = min(c.Reads, max(1, len(own)/8))
	}
	beyond := c.Reads + 1 // and the guard
	if !j.given("num") {
		f.Num = min(f.Num, max(1, count(own.Most(beyond))))
	}
	if err := own.Fits(int(f.Num), beyond); err != nil {
		return fmt.Errorf("--keys: %w, or a smaller --num or --reads", err)
	}
	j.notes = append(j.notes, fmt.Sprintf("Of your keys %v are stored.", f.Num))
	return nil
}
