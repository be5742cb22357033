package engine

import (
	"cmp"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verdict"
)

//go:generate sh -c "sed -f pebblev1.sed pebblev2.go | gofmt >pebblev1.go"

type pebbleV2 struct {
	*pebble.DB
	settings Settings
}

// A pebbleV2View is the filesystem that Pebble sees: a manifest in memory, and the tables of a
// view. It calls read for each read of a table. For the list of names, tables have an empty file in
// memory too.
type pebbleV2View struct {
	vfs.FS
	view *View
	read func(number int)
}

func (v pebbleV2View) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	path, isTable := v.view.Paths[name]
	if !isTable {
		return v.FS.Open(name, opts...)
	}
	file, err := vfs.Default.Open(path, opts...)
	return pebbleV2File{file, func() { v.read(Number(name)) }}, err
}

func (v pebbleV2View) Stat(name string) (vfs.FileInfo, error) {
	if path, isTable := v.view.Paths[name]; isTable {
		return vfs.Default.Stat(path)
	}
	return v.FS.Stat(name)
}

// A pebbleV2File calls read for each read.
type pebbleV2File struct {
	vfs.File
	read func()
}

func (f pebbleV2File) ReadAt(p []byte, offset int64) (int, error) {
	f.read()
	return f.File.ReadAt(p, offset)
}

func openPebbleV2(o Options, policies []*policy.Policy, read func(number int)) (DB, error) {
	files := vfs.NewMem()
	for name, contents := range o.View.memory {
		file, err := files.Create(name, vfs.WriteCategoryUnspecified)
		if err != nil {
			return nil, err
		}
		// Of a copy: in builds with -race, Pebble spoils the buffer, which must not be kept.
		if _, err = file.Write(slices.Clone(contents)); err != nil {
			return nil, err
		}
		_ = file.Close() // in memory
	}
	cache := pebble.NewCache(1<<20 + 3*o.Room/2) // indexes are larger than in the files
	defer cache.Unref()                          // the database keeps it
	merger := *pebble.DefaultMerger              // nothing is merged, but Pebble compares the name
	merger.Name = cmp.Or(o.View.Merger, merger.Name)
	options := &pebble.Options{
		ReadOnly:           true,
		Logger:             Quiet{},
		FormatMajorVersion: pebble.FormatNewest,
		MemTableSize:       64 << 10,
		FS:                 pebbleV2View{files, o.View, read},
		Merger:             &merger,
		MaxOpenFiles:       MostTables(),
		Cache:              cache,
		DisableTableStats:  true,
	}
	for _, p := range policies {
		if err := pebblev2.Configure(options, p); err != nil {
			return nil, err
		}
	}
	db, err := pebble.Open("", options)
	if err != nil {
		return nil, err
	}
	return pebbleV2{db, o.View.Settings}, nil
}

func (db pebbleV2) Tables() (map[int]Place, error) {
	all, err := db.SSTables()
	places := map[int]Place{}
	for level, tables := range all {
		for _, t := range tables {
			number := int(t.BackingSSTNum) // of a virtual table, that of its file
			places[number] = Place{Level: level}
		}
	}
	return places, err
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

func (db pebbleV2) Memory(uint64) (cache, files verdict.Setting, err error) {
	blocks := pebble.NewCache(cmp.Or(db.settings.Cache, 8<<20)) // Pebble's default
	defer blocks.Unref()
	o := &pebble.Options{Cache: blocks, MemTableSize: uint64(db.settings.MemTable),
		MemTableStopWritesThreshold: int(db.settings.MemTables)}
	ribbon, err := policy.NewRibbon(10)
	if err == nil {
		err = pebblev2.Configure(o, ribbon)
	}
	if err != nil {
		return cache, files, err
	}
	r, err := pebblev2.Check(o, db.DB)
	// Of MaxOpenFiles, by default 1000, 10 may be no tables. Pebble has a lower limit of its own.
	open := 10 + pebble.FileCacheSize(int(cmp.Or(db.settings.OpenFiles, 1000)))
	return verdict.Setting{Has: uint64(blocks.MaxSize()), Required: r.Required},
		verdict.Setting{Has: uint64(open), Required: uint64(r.RequiredFiles)}, err
}
