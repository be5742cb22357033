package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/bench/internal/verdict"
	"github.com/levelbloom/levelbloom/sstable/filterdump/ondisk"
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
	return `Simulates: it loads databases of its own, with and without filters, and measures what the
filters do. The databases are removed. For a database that you have, use filterdump: it counts what
filters do there. What filters answer is counted first. The last filter has two turns in each round:
the difference between them is noise. In timed lookups a read of table data waits as long as on a
disk (--disk).

` + filtersHelp + ` none is no filter, builtin each engine's own, ribbon+L6 consults the filters in
Pebble's L6 too.

` + shapesHelp()
}

// Run is the subcommand.
func (f *enginesCommand) Run(j *job) error { return f.outputs.run(j, f.measure) }

func (f *enginesCommand) measure(j *job) (*report.Report, error) {
	counted, err := f.countOwn(j)
	if err != nil {
		return nil, err
	}
	config, keys, err := f.config(j)
	if err != nil {
		return nil, err
	}
	runs, err := config.Supervise(j.ctx)
	if len(runs) == 0 {
		return nil, err
	}
	r := j.report(err)
	r.Title = "Simulated: bench fills databases of its own, and looks up absent keys in them."
	outcome := enginebench.Outcome{Config: &config, Runs: runs}
	outcome.Report(r)
	verdicts := verdict.Of(&outcome, keys)
	r.Conclusion = verdict.Lines(verdicts)
	if f.isDatabase() {
		verdicts = counted
		r.Conclusion = []string{"What your own database reads, and what to change there, is counted by",
			report.Code + "go run github.com/levelbloom/levelbloom/sstable/filterdump@latest " +
				quoted(f.Keys)}
	}
	return r, errors.Join(err, f.Page.write(func(w io.Writer) error {
		return verdict.WritePage(w, r, verdicts)
	}))
}

// isDatabase reports whether the keys are those of a database.
func (f *enginesCommand) isDatabase() bool {
	info, err := os.Stat(f.Keys)
	return err == nil && info.IsDir()
}

// countOwn returns what filterdump says of the user's database, for the page.
func (f *enginesCommand) countOwn(j *job) ([]verdict.Verdict, error) {
	if f.Page.path == "" || !f.isDatabase() {
		return nil, nil
	}
	counted, err := ondisk.Count(j.ctx, f.Keys)
	if err != nil {
		return nil, fmt.Errorf("--keys: %w", err)
	}
	return []verdict.Verdict{verdict.OfDatabase(f.Keys, counted)}, nil
}

// config returns what the flags ask for, and the number of keys that it stands for: the user's own,
// or those that are stored.
func (f *enginesCommand) config(j *job) (c enginebench.Config, n int, err error) {
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
		return c, 0, err
	}
	source, own, err := f.choose(j)
	if err != nil {
		return c, 0, err
	}
	if own != nil {
		err = f.fit(j, own)
	} else {
		j.notes = append(j.notes, fmt.Sprintf("Keys: %s, such as %s: %s.", source.Shape,
			keys.ExampleOf(source.Shape), source.Density.Doc))
	}
	if err != nil {
		return c, 0, err
	}
	c.Keys, err = source.Set(int(f.Num), c.Reads, f.Seed)
	if err == nil && len(c.Keys.Between) == 0 {
		err = fmt.Errorf("--num %v: no absent keys lie between so few: pass more", f.Num)
	}
	return c, max(int(f.Num), len(own)), err
}

// fit makes --num fit the number of the user's own keys, unless it is given.
func (f *enginesCommand) fit(j *job, own keys.List) error {
	if !j.given("num") {
		f.Num = min(f.Num, max(1, count(own.Most())))
	}
	if err := own.Fits(int(f.Num)); err != nil {
		return fmt.Errorf("--keys: %w, or a smaller --num", err)
	}
	j.notes = append(j.notes, fmt.Sprintf("Of your keys %v are stored.", f.Num))
	return nil
}
