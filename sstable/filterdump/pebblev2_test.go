package main

import (
	"context"

	"github.com/cockroachdb/pebble/v2"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/engine"
)

//go:generate sh -c "sed -f internal/engine/pebblev1.sed pebblev2_test.go | gofmt >pebblev1_test.go"

func openPebbleV2(dir string, p *policy.Policy, how opening) (s store, err error) {
	o := &pebble.Options{MemTableSize: 256 << 10, Logger: engine.Quiet{}, L0StopWritesThreshold: 1000,
		DisableAutomaticCompactions: how != busy, ReadOnly: how == readOnly,
		FormatMajorVersion: pebble.FormatNewest} // Pebble v1's default has no Rewrite
	if p != nil {
		if err := pebblev2.Configure(o, p); err != nil {
			return s, err
		}
	}
	db, err := pebble.Open(dir, o)
	if err != nil {
		return s, err
	}
	s.put = func(key, value []byte) error { return db.Set(key, value, pebble.NoSync) }
	s.has = func(key []byte) (bool, error) { return pebblev2.Has(db, key) }
	s.flush, s.close = db.Flush, db.Close
	s.compact = func() error {
		return db.Compact(context.Background(), []byte("a"), []byte("z"), false)
	}
	s.rewrite = func(ctx context.Context) error { return pebblev2.Rewrite(ctx, o, db, nil) }
	return s, nil
}
