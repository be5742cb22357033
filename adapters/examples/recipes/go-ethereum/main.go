// Go-ethereum opens its databases with options of its own, with the engines' own filters.
package main

import (
	"os"

	"github.com/ethereum/go-ethereum/ethdb/leveldb"
	"github.com/ethereum/go-ethereum/ethdb/pebble"

	"github.com/levelbloom/levelbloom/adapters/examples/recipes"
)

func openGoLevelDB(dir string) (*leveldb.Database, error) {
	return leveldb.New(dir, 16, 16, "", false)
}

func openV1(dir string) (*pebble.V1Database, error) { return pebble.NewV1(dir, 16, 16, "", false) }

func openV2(dir string) (*pebble.Database, error) { return pebble.New(dir, 16, 16, "", false) }

func main() {
	step := recipes.Step(os.Args[1])
	if step == recipes.Recipe {
		recipes.Run(recipes.GoLevelDB, step, openGoLevelDB, (*leveldb.Database).Put, nil)
	}
	compact1 := func(db *pebble.V1Database) error { return db.Compact(nil, nil) }
	recipes.Run(recipes.PebbleV1, step, openV1, (*pebble.V1Database).Put, compact1)
	compact2 := func(db *pebble.Database) error { return db.Compact(nil, nil) }
	recipes.Run(recipes.PebbleV2, step, openV2, (*pebble.Database).Put, compact2)
}
