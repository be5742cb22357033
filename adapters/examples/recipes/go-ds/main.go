// Go-ds-leveldb and go-ds-pebble open kubo's databases with the caller's options, and without
// filters by default.
package main

import (
	"context"

	"github.com/cockroachdb/pebble/v2"
	ds "github.com/ipfs/go-datastore"
	levelds "github.com/ipfs/go-ds-leveldb"
	pebbleds "github.com/ipfs/go-ds-pebble"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/examples/recipes"
	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

func defaultGoLevelDB(dir string) (*levelds.Datastore, error) {
	return levelds.NewDatastore(dir, nil)
}

func openGoLevelDB(dir string) (*levelds.Datastore, error) {
	o := &opt.Options{}
	filterPolicy, err := policy.NewRibbon(10)
	if err != nil {
		return nil, err
	}
	o.DisableSeeksCompaction = true
	if err := goleveldb.Configure(o, filterPolicy); err != nil {
		return nil, err
	}
	return levelds.NewDatastore(dir, (*levelds.Options)(o))
}

func defaultPebble(dir string) (*pebbleds.Datastore, error) {
	return pebbleds.NewDatastore(dir)
}

func openPebble(dir string) (*store, error) {
	o := &pebble.Options{}
	filterPolicy, err := policy.NewRibbon(10)
	if err != nil {
		return nil, err
	}
	if err := pebblev2.Configure(o, filterPolicy); err != nil {
		return nil, err
	}
	db, err := pebbleds.NewDatastore(dir, pebbleds.WithPebbleOpts(o))
	return &store{db}, err
}

// store has the Has that package recipes checks.
type store struct{ *pebbleds.Datastore }

func (s *store) Has(key []byte) (bool, error) {
	return s.Datastore.Has(context.Background(), ds.RawKey(string(key)))
}

// putter is a datastore of either kind.
type putter interface {
	Put(ctx context.Context, key ds.Key, value []byte) error
}

func put[DB putter](db DB, key, value []byte) error {
	return db.Put(context.Background(), ds.RawKey(string(key)), value)
}

func main() {
	recipes.Run(recipes.GoLevelDB, recipes.Default, defaultGoLevelDB, put, nil)
	recipes.Run(recipes.GoLevelDB, recipes.Recipe, openGoLevelDB, put, nil)
	recipes.Run(recipes.PebbleV2, recipes.Default, defaultPebble, put, nil)
	recipes.Run(recipes.PebbleV2, recipes.Recipe, openPebble, put, nil)
}
