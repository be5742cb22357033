package pebblev2_test

import (
	"github.com/cockroachdb/pebble/v2"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// openDB opens a Pebble database with filters in all levels.
func openDB(dir string) (*pebble.DB, error) {
	p, err := policy.NewRibbon(10)
	if err != nil {
		return nil, err
	}
	o := &pebble.Options{Cache: pebble.NewCache(64 << 20)}
	defer o.Cache.Unref()
	if err := pebblev2.Configure(o, p, pebblev2.WithL6(p)); err != nil {
		return nil, err
	}
	return pebble.Open(dir, o)
}

// has reports whether key is present. It is for keys that are probably absent.
func has(db *pebble.DB, key []byte) (bool, error) { return pebblev2.Has(db, key) }
