package engine

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

//go:generate sh -c "sed -f pebblev1.sed pebblev2.go | gofmt >pebblev1.go"

type pebbleV2 struct {
	*pebble.DB
	settings Settings
}

func openPebbleV2(o Options, policies []*policy.Policy, read func(number int)) (DB, error) {
	counted := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileReadAt {
			read(Number(op.Path))
		}
		return nil
	})
	options := &pebble.Options{
		ReadOnly:           true,
		Logger:             Quiet{},
		FormatMajorVersion: pebble.FormatNewest,
		MemTableSize:       64 << 10,
		FS:                 errorfs.Wrap(vfs.Default, counted),
		CacheSize:          o.cacheSize(),
		DisableTableStats:  true,
	}
	options.Experimental.ReadSamplingMultiplier = -1 // reading must not start compactions
	for _, p := range policies {
		if err := pebblev2.Configure(options, p); err != nil {
			return nil, err
		}
	}
	db, err := pebble.Open(o.View, options)
	if err != nil {
		return nil, err
	}
	return pebbleV2{db, o.Settings}, nil
}

func (db pebbleV2) Levels() (map[int]int, error) {
	all, err := db.SSTables()
	levels := map[int]int{}
	for level, tables := range all {
		for _, t := range tables {
			levels[int(t.BackingSSTNum)] = level // of a virtual table, the file's number
		}
	}
	return levels, err
}

func (db pebbleV2) Keys(f func(key []byte)) error {
	iter, err := db.NewIter(nil)
	if err != nil {
		return err
	}
	for valid := iter.First(); valid; valid = iter.Next() {
		f(iter.Key())
	}
	return iter.Close()
}

func (db pebbleV2) Get(key []byte) (bool, error) {
	_, closer, err := db.DB.Get(key)
	if err == pebble.ErrNotFound {
		return false, nil
	}
	if err == nil {
		err = closer.Close()
	}
	return err == nil, err
}

func (db pebbleV2) Has(key []byte) (bool, error) { return pebblev2.Has(db.DB, key) }

func (db pebbleV2) Memory(s Sizes) (string, error) {
	r, err := pebblev2.CheckCache(&pebble.Options{
		CacheSize:    db.settings.Cache,
		MemTableSize: uint64(db.settings.MemTable),
		MaxOpenFiles: int(db.settings.OpenFiles),
	}, db.DB)
	r.NoFilters, r.Filters, r.Largest = false, s.Filters, s.Largest
	if r.Fits() {
		return "", err
	}
	return told("the program's", r), err // or Pebble's defaults, if it has left no options
}
