package pebblev2

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// LevelFilters counts the tables of one level by their filters on disk.
type LevelFilters struct {
	ByName  map[string]int // tables with a filter, by the name of its policy
	Bytes   uint64         // the size of these filters
	None    int            // tables without a filter
	Marked  int            // tables with the mark of Configure: see [Has]
	Unknown int            // virtual tables whose properties Pebble does not report
}

// FiltersOnDisk counts the tables of each level, starting with L0, by the filters that they have.
// It shows whether new tables get the filters you configured, and how far compactions have replaced
// former ones. It reads the properties of every table, and may run while db is in use. It returns
// Pebble's errors, or one if db is nil or closed.
func FiltersOnDisk(db *pebble.DB) ([]LevelFilters, error) {
	levels, err := tablesOf(db)
	if err != nil {
		return nil, err
	}
	counts := make([]LevelFilters, len(levels))
	for level, tables := range levels {
		c := &counts[level]
		c.ByName = make(map[string]int)
		for _, t := range tables {
			if _, marked := t.Properties.UserProperties[markName]; marked {
				c.Marked++
			}
			switch name := t.Properties.FilterPolicyName; {
			case hidesFilter(t):
				c.Unknown++
			case name == "":
				c.None++
			default:
				c.ByName[name]++
				c.Bytes += t.Properties.FilterSize
			}
		}
	}
	return counts, nil
}

// tablesOf returns the tables of each level, with their properties.
func tablesOf(db *pebble.DB) ([][]pebble.SSTableInfo, error) {
	if db == nil {
		return nil, errors.New("pebblev2: the database is nil: pass one that pebble.Open returned")
	}
	if err := checkOpen(db); err != nil {
		return nil, err
	}
	return db.SSTables(pebble.WithProperties())
}

// checkOpen returns pebble.ErrClosed if db is closed. SSTables would panic, and not with that;
// other methods do.
func checkOpen(db *pebble.DB) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if err, _ = p.(error); !errors.Is(err, pebble.ErrClosed) {
				panic(p)
			}
		}
	}()
	return db.NewSnapshot().Close()
}
