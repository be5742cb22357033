// Cosmos-db opens its databases with options of its own: goleveldb with goleveldb's filters, Pebble
// without filters.
package main

import (
	"os"
	"path/filepath"

	db "github.com/cosmos/cosmos-db"

	"github.com/levelbloom/levelbloom/adapters/examples/recipes"
)

func openGoLevelDB(dir string) (*db.GoLevelDB, error) {
	return db.NewGoLevelDB("store", filepath.Dir(dir), nil)
}

func openPebble(dir string) (db.DB, error) {
	return db.NewPebbleDB("store", filepath.Dir(dir), nil)
}

func main() {
	step := recipes.Step(os.Args[1])
	if step == recipes.Recipe {
		recipes.Run(recipes.GoLevelDB, step, openGoLevelDB, (*db.GoLevelDB).Set, nil)
	}
	compact := func(d db.DB) error {
		return d.(*db.PebbleDB).DB().Compact([]byte("/"), []byte("0"), true)
	}
	recipes.Run(recipes.PebbleV1, step, openPebble, db.DB.Set, compact)
}
