package pebblev2

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// LevelFilters counts the tables of one level by the filters that they have on disk.
type LevelFilters struct {
	ByName  map[string]int // tables with a filter, by the name of its policy
	None    int            // tables without a filter
	Unknown int            // virtual tables, of which Pebble v2 does not tell
}

// FiltersOnDisk counts the tables of each level, from L0, by the filters that they have. It tells how far compactions have replaced the filters of a former policy, if the policies have different names. It reads the properties
// of every table, and may run while db is in use. Its errors are Pebble's, or say that db is nil.
func FiltersOnDisk(db *pebble.DB) ([]LevelFilters, error) {
	if db == nil {
		return nil, errors.New("pebblev2: the database is nil: pass one that pebble.Open returned")
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
			switch name := t.Properties.FilterPolicyName; {
			case t.Virtual:
				c.Unknown++
			case name == "":
				c.None++
			default:
				c.ByName[name]++
			}
		}
	}
	return counts, nil
}
