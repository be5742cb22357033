package enginebench

import (
	"context"
	"fmt"

	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// settingsRound is the round of the runs that count what misses cost by goleveldb's settings.
const settingsRound = -1

// compactionMisses is how many times as many misses as in other passes show what goleveldb compacts
// because of them: a million, if there are 4,096.
const compactionMisses = 250

// settings change the caches, which have goleveldb's default sizes, or what else users have. The
// last one changes the tables.
var settings = []struct {
	name   string
	misses int // times as many as in other passes
	set    func(*engine.Config, engine.Tables)
}{
	{"seek compactions off", compactionMisses, func(*engine.Config, engine.Tables) {}},
	{"off, and a third of the tables open", 1, func(c *engine.Config, t engine.Tables) {
		c.OpenFiles = int(t.Number / 3)
	}},
	{"off, and a block cache for a quarter of filters and indexes", 1,
		func(c *engine.Config, t engine.Tables) { c.Cache = int(t.FilterBytes+t.IndexBytes) / 4 }},
	{"seek compactions on, goleveldb's default", compactionMisses,
		func(c *engine.Config, _ engine.Tables) { c.SeekCompactions = true }},
}

// settings counts what misses read and write in a database with each of the settings.
func (c *Config) settings(ctx context.Context, e engine.Engine, config engine.Config, run Run,
	keys [][]byte, done func(Run)) error {
	var tables engine.Tables
	err := with(e, config, func(db engine.DB) (err error) {
		tables, err = db.Tables()
		return err
	})
	if err != nil {
		return err
	}
	for _, s := range settings {
		config, run := config, run
		config.Disk, config.Cache = new(engine.Disk), opt.DefaultBlockCacheCapacity
		s.set(&config, tables)
		err := with(e, config, func(db engine.DB) error {
			if err := lookups(ctx, db, keys, len(keys), false); err != nil { // fills the caches
				return err
			}
			n := s.misses * c.Reads
			reads, written := config.Disk.Reads.Load(), config.Disk.Written.Load()
			err := lookups(ctx, db, keys, n, false)
			run.Setting, run.BetweenLookups = s.name, int64(n)
			run.BetweenReads = config.Disk.Reads.Load() - reads
			run.BetweenWritten = config.Disk.Written.Load() - written
			return err
		})
		if err != nil {
			return err
		}
		done(run)
	}
	return nil
}

// settingsTable has a row for each setting.
func (o *Outcome) settingsTable() report.Table {
	t := report.Table{Keys: 1, Title: fmt.Sprintf("goleveldb with %s filters and %.0f MB of data: "+
		"what misses cost by settings (caches have the default sizes, unless a row says otherwise)",
		o.Filters[len(o.Filters)-1], float64(o.DataBytes())/1e6),
		Columns: []string{"settings", "reads per miss", "MiB written per million misses"}}
	for _, r := range o.Runs {
		if r.Round == settingsRound {
			t.Add(r.Setting, ratio(r.BetweenReads, r.BetweenLookups, 2), report.Number{Decimals: 1,
				Value: float64(r.BetweenWritten) / (1 << 20) * 1e6 / float64(r.BetweenLookups)})
		}
	}
	return t
}
