package pebblev1

import (
	"errors"

	"github.com/cockroachdb/pebble"
)

// LevelFilters counts the tables of one level by the filters that they have on disk.
type LevelFilters struct {
	ByName map[string]int // tables with a filter, by the name of its policy
	None   int            // tables without a filter
}

// FiltersOnDisk counts the tables of each level, from L0, by the filters that they have. It tells how far compactions have replaced the filters of a former policy, if the policies have different names. It reads the properties
// of every table, and may run while db is in use. Its errors are Pebble's, or say that db is nil.
func FiltersOnDisk(db *pebble.DB) ([]LevelFilters, error) {
	if db == nil {
		return nil, errors.New("pebblev1: the database is nil: pass one that pebble.Open returned")
	}
	levels, err := db.SSTables(pebble.WithProperties())
	if err != nil {
		return nil, err
	}
	counts := make([]LevelFilters, len(levels))
	for level, tables := range levels {
		c := &counts[level]
		c.ByName = make(map[string]int)
		for _, t := range tables {
			if name := t.Properties.FilterPolicyName; name != "" {
				c.ByName[name]++
			} else {
				c.None++
			}
		}
	}
	return counts, nil
}
