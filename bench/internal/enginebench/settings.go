package enginebench

import (
	"context"

	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
)

// million is how often all keys are looked up to show what goleveldb compacts because of that: a
// million lookups, if there are 16,384 keys.
const million = 62

// settings change the caches, which have goleveldb's default sizes, or what else users have. The
// last one changes the tables.
var settings = []struct {
	name  string
	times int // that all keys are looked up
	set   func(*engine.Config, engine.Tables)
}{
	{"seek compactions off", million, func(*engine.Config, engine.Tables) {}},
	{"off, and a third of the tables open", 1, func(c *engine.Config, t engine.Tables) {
		c.OpenFiles = int(t.Number / 3)
	}},
	{"off, and a block cache for a quarter of filters and indexes", 1,
		func(c *engine.Config, t engine.Tables) { c.Cache = int(t.FilterBytes+t.IndexBytes) / 4 }},
	{"seek compactions on, goleveldb's default", million,
		func(c *engine.Config, _ engine.Tables) { c.SeekCompactions = true }},
}

// settings counts what lookups of absent keys read and write with each of the settings.
func (d *database) settings(ctx context.Context, absent [][]byte) (all []Setting, err error) {
	var tables engine.Tables
	err = d.with(func(db engine.DB) (err error) {
		tables, err = db.Tables()
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		changed := *d
		changed.Cache = opt.DefaultBlockCacheCapacity
		s.set(&changed.Config, tables)
		r := Setting{Setting: s.name, Filter: d.Filter, Lookups: int64(s.times * len(absent))}
		err := changed.with(func(db engine.DB) error {
			if err := lookUp(ctx, db, absent, false); err != nil { // fills the caches
				return err
			}
			disk := changed.Disk
			reads, written := disk.Reads.Load(), disk.Written.Load()
			for range s.times {
				if err := lookUp(ctx, db, absent, false); err != nil {
					return err
				}
			}
			r.Reads, r.Written = disk.Reads.Load()-reads, disk.Written.Load()-written
			return nil
		})
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
