package main

import (
	"slices"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// enginesCommand compares filters inside the storage engines.
type enginesCommand struct {
	Num     keyCount      `default:"150k" help:"Keys to store, such as 20k or 1M."`
	Disk    time.Duration `default:"100us" help:"How long a read of table data waits."`
	Cached  bool          `help:"Give the block cache room for all of the data."`
	Bits    int           `default:"10" help:"Bits per key, a whole number."`
	Engines []string      `default:"goleveldb,pebblev2" enum:"${engines}" help:"${enum}."`
	Filters specs         `default:"none,builtin,ribbon:7,ribbon,ribbon+L6" help:"Filters."`
	Shape   string        `default:"decimal" enum:"${shapes}" help:"Shape of the keys."`
	All     bool          `help:"All figures, and three rounds: 2 minutes."`
	outputs
}

func (*enginesCommand) Help() string {
	return `Fills temporary databases, with and without filters, looks keys up in them, and removes
them, in half a minute. First it counts what lookups of absent keys read. Then it times lookups, in
which a read of table data waits as long as on a disk. For a database that you have, use filterdump:
it counts what lookups read there.

` + filtersHelp + ` none is no filter, builtin is each engine's
own, ribbon+L6 has filters in Pebble's L6 too and looks up by the adapter's Get,
which asks them. Ratios are to the first filter.

` + shapesHelp()
}

// Run is the subcommand.
func (f *enginesCommand) Run(j *job) error {
	config, err := f.config(j)
	if err != nil {
		return err
	}
	records, err := config.Run(j.ctx)
	return f.write(j, len(records.Counted) == 0, err, func(r *report.Report) {
		config.Report(r, records)
		r.Notes = append(r.Notes, "For a database that you have, filterdump counts what lookups "+
			"read, and says what to change there:",
			"    go run github.com/levelbloom/levelbloom/sstable/filterdump@latest DIRECTORY")
	})
}

// config returns what the flags ask for. Of a range of keys, 63 % are present, as db_bench leaves.
func (f *enginesCommand) config(j *job) (enginebench.Config, error) {
	source := keys.Sources([]string{f.Shape}, []string{"63%"})[0]
	c := enginebench.Config{Disk: f.Disk, Cached: f.Cached, All: f.All, Bits: f.Bits,
		Filters: f.Filters, Progress: j.progress,
		Keys: source.Set(int(f.Num), enginebench.Absent, 1)}
	for _, e := range engine.Engines {
		if slices.Contains(f.Engines, e.Name) {
			c.Engines = append(c.Engines, e)
		}
	}
	return c, c.Validate()
}
