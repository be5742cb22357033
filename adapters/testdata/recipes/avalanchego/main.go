// Avalanchego opens Pebble with options of its own, without filters.
package main

import (
	"os"

	"github.com/ava-labs/avalanchego/database"
	"github.com/ava-labs/avalanchego/database/pebbledb"
	"github.com/ava-labs/avalanchego/utils/logging"

	"github.com/levelbloom/levelbloom/adapters/testdata/recipes"
)

func open(dir string) (database.Database, error) {
	return pebbledb.New(dir, nil, logging.NoLog{}, nil)
}

func main() {
	compact := func(db database.Database) error { return db.Compact(nil, nil) }
	recipes.Run(recipes.PebbleV1, recipes.Step(os.Args[1]), open, database.Database.Put, compact)
}
