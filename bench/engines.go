package main

import (
	"errors"
	"fmt"
	"io"
	"math"
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
	Page      output        `group:"Output" placeholder:"FILE" help:"Write a page in HTML."`
	keyFlags
	outputs
}

func (*enginesCommand) Help() string {
	return `Loads real databases, with and without filters, and measures what the filters do. The
databases are removed. The last filter has two turns in each round: the difference between them is
noise. In timed lookups a read of table data waits as on a disk that takes that long (--disk).

` + filtersHelp + ` none is no filter, builtin each engine's own, ribbon+L6 asks the filters in
Pebble's L6 too.

` + shapesHelp()
}

// Run is the subcommand.
func (f *enginesCommand) Run(j *job) error { return f.outputs.run(j, f.measure) }

func (f *enginesCommand) measure(j *job) (*report.Report, error) {
	disk, err := verdict.ReadDisk(j.ctx, f.Keys)
	if err != nil {
		return nil, fmt.Errorf("--keys: %w", err)
	}
	config, err := f.config(j, disk)
	if err != nil {
		return nil, err
	}
	runs, err := config.Supervise(j.ctx)
	if len(runs) == 0 {
		return nil, err
	}
	r := j.report(err)
	outcome := enginebench.Outcome{Config: &config, Runs: runs}
	outcome.Report(r)
	record := verdict.Record{Runs: runs, Bits: f.Bits, Disk: disk}
	verdicts := record.Verdicts()
	r.Conclusion = verdict.Lines(verdicts)
	return r, errors.Join(err, f.Page.write(func(w io.Writer) error {
		return verdict.WritePage(w, r, verdicts)
	}))
}

// like makes settings that are not given those of the user's database.
func (f *enginesCommand) like(j *job, disk *verdict.Disk) {
	if disk.Engine != "" && !j.given("engines") {
		f.Engines = []string{disk.Engine}
	}
	if bits := int(math.Round(disk.Sample.BitsPerKey)); bits > 0 && !j.given("bits") {
		f.Bits = min(max(bits, 2), 40) // which all filters take
	}
}

// config returns what the flags ask for, or suits the database on disk if there is one.
func (f *enginesCommand) config(j *job, disk *verdict.Disk) (c enginebench.Config, err error) {
	if disk != nil {
		f.like(j, disk)
	}
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
	shape, own, err := f.choose(j)
	if err != nil {
		return c, err
	}
	if own != nil {
		if err := f.fit(j, &c, own); err != nil {
			return c, err
		}
	} else {
		j.notes = append(j.notes, fmt.Sprintf("Keys: %s, such as %s: %s.", shape.Name,
			shape.Example(), shape.Density.Doc))
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
