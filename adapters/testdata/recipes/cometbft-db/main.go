// Cometbft-db opens its databases with the caller's options, and without filters by default.
package main

import (
	"path/filepath"

	"github.com/cockroachdb/pebble"
	db "github.com/cometbft/cometbft-db"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/pebblev1"
	"github.com/levelbloom/levelbloom/adapters/testdata/recipes"
	"github.com/levelbloom/levelbloom/policy"
)

func openGoLevelDB(dir string) (*db.GoLevelDB, error) {
	o := &opt.Options{}
	filterPolicy, err := policy.NewRibbon(10)
	if err != nil {
		return nil, err
	}
	if err := goleveldb.Configure(o, filterPolicy, goleveldb.WithoutSeekCompactions()); err != nil {
		return nil, err
	}
	return db.NewGoLevelDBWithOpts("store", filepath.Dir(dir), o)
}

func openPebble(dir string) (*store, error) {
	o := &pebble.Options{}
	filterPolicy, err := policy.NewRibbon(10)
	if err != nil {
		return nil, err
	}
	if err := pebblev1.Configure(o, filterPolicy); err != nil {
		return nil, err
	}
	d, err := db.NewPebbleDBWithOpts("store", filepath.Dir(dir), o)
	return &store{d}, err
}

// A store consults the filters of L6 too.
type store struct{ *db.PebbleDB }

func (s *store) Has(key []byte) (bool, error) { return pebblev1.Has(s.DB(), key) }

func defaultGoLevelDB(dir string) (*db.GoLevelDB, error) {
	return db.NewGoLevelDB("store", filepath.Dir(dir))
}

func defaultPebble(dir string) (*db.PebbleDB, error) {
	return db.NewPebbleDB("store", filepath.Dir(dir))
}

func main() {
	compact := func(d *db.PebbleDB) error { return d.Compact(nil, nil) }
	put := (*db.GoLevelDB).Set
	recipes.Run(recipes.GoLevelDB, recipes.Default, defaultGoLevelDB, put, nil)
	recipes.Run(recipes.GoLevelDB, recipes.Recipe, openGoLevelDB, put, nil)
	recipes.Run(recipes.PebbleV1, recipes.Default, defaultPebble, (*db.PebbleDB).Set, compact)
	recipes.Run(recipes.PebbleV1, recipes.Recipe, openPebble, (*store).Set,
		func(s *store) error { return s.Compact(nil, nil) })
}
