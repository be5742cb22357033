// Package engine opens a database, which may be in use, in the engine that wrote it. The engine
// gets a [View] instead of the database's directory.
package engine

import (
	"errors"
	"fmt"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verdict"
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
	// Memory returns the size of the block cache, and how many tables stay open, by the program's
	// options as far as they are known. Ribbon filters in all tables would have, with indexes, so
	// many bytes.
	Memory(blocks uint64) (cache, files verdict.Setting, err error)
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

// Quiet is a logger of Pebble. What it says as it gives up becomes a panic.
type Quiet struct{}

func (Quiet) Infof(string, ...any)              {}
func (Quiet) Errorf(string, ...any)             {}
func (Quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
