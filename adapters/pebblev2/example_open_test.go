package pebblev2_test

import (
	"github.com/cockroachdb/pebble/v2"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// openDB opens a Pebble database with LevelDB's Bloom filters.
func openDB(dir string) (*pebble.DB, error) {
	p, err := policy.NewBloom(10)
	if err != nil {
		return nil, err
	}
	o := &pebble.Options{}
	if err := pebblev2.Configure(o, p); err != nil {
		return nil, err
	}
	return pebble.Open(dir, o)
}
