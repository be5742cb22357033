// Package engine opens a database, which may be in use, in the engine that wrote it. The engine
// gets a [View] instead of the database's directory.
package engine

import (
	"errors"
	"fmt"

	"github.com/levelbloom/levelbloom/policy"
)

// Options say how to open a view.
type Options struct {
	View  *View
	Names []string // policies whose filters package policy reads; without any, no filter is used
	// Room is how many bytes of indexes and filters Pebble's block cache has room for, and hardly
	// any data. goleveldb keeps both in its open tables, and no data.
	Room int64
}

// A DB is an open database.
type DB interface {
	// Tables returns what the manifest says of each table, by the number of its file.
	Tables() (map[int]Place, error)
	// Keys calls f for each key in ascending order. The key's memory is reused.
	Keys(f func(key []byte)) error
	// Get is the engine's own lookup. Has is that of its adapter, if it has one.
	Get(key []byte) (bool, error)
	Has(key []byte) (bool, error)
	// Memory says whether the program's caches, as far as they are known, have room for all tables
	// with ribbon filters, whose filters and indexes have so many bytes, and what to set if not.
	Memory(blocks uint64) (string, error)
	Close() error
}

// A Place is what a manifest says of a table.
type Place struct {
	Level int
	// Size is how many bytes the file has, or more may follow. It is 0 for Pebble, which compares
	// it when it opens the database.
	Size int64
}

// Open opens a view. It calls read for each read of a table.
func Open(o Options, read func(number int)) (DB, error) {
	var policies []*policy.Policy
	for _, name := range o.Names {
		p, err := policy.NewBloom(10, policy.WithName(name)) // reads all filters under the name
		if err != nil {
			return nil, err
		}
		policies = append(policies, p)
	}
	switch o.View.Engine {
	case "goleveldb":
		return openGoLevelDB(o, policies, read)
	case "pebblev1":
		return openPebbleV1(o, policies, read)
	case "pebblev2":
		return openPebbleV2(o, policies, read)
	}
	return nil, errors.New("levelbloom has no adapter for this engine")
}

// A setting is what an option provides, and what lookups of absent keys require.
type setting struct{ has, required uint64 }

// memory says what Memory does. setCache and setFiles are lines of code, without the number of MiB
// and of tables. Options are the engine's default ones, unless those of the program are known.
func memory(options string, cache setting, setCache string, files setting, setFiles string) string {
	const mib = 1 << 20
	text := fmt.Sprintf("With %s options, the block cache (%d MiB) ", options, cache.has/mib)
	required := (cache.required + mib - 1) / mib
	if cache.has >= cache.required {
		text += fmt.Sprintf("has room for what lookups need there, %d MiB", required)
	} else {
		text += fmt.Sprintf("lacks room for what lookups need there, %d MiB: set "+setCache+
			", or more for the data", required, required)
	}
	if files.has < files.required {
		text += fmt.Sprintf("; not all tables stay open: set "+setFiles, files.required)
	}
	return text + "."
}

// Quiet is a logger of Pebble. What it says as it gives up becomes a panic.
type Quiet struct{}

func (Quiet) Infof(string, ...any)              {}
func (Quiet) Errorf(string, ...any)             {}
func (Quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
