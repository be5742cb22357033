package engine

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verdict"
)

type goLevelDB struct{ *leveldb.DB }

func openGoLevelDB(o Options, policies []*policy.Policy, read func(number int)) (DB, error) {
	files, err := viewedStorage(o.View, read)
	if err != nil {
		return nil, err
	}
	options := &opt.Options{ReadOnly: true, DisableBlockCache: true,
		OpenFilesCacheCapacity: MostTables()}
	for _, p := range policies {
		options.AltFilters = append(options.AltFilters, goleveldb.New(p))
	}
	db, err := leveldb.Open(files, options)
	if err != nil {
		return nil, err
	}
	return &goLevelDB{db}, nil
}

func (db *goLevelDB) Tables() (map[int]Place, error) {
	text, err := db.GetProperty("leveldb.sstables")
	places, level := map[int]Place{}, 0
	for _, line := range strings.Split(text, "\n") {
		var number int
		var size int64
		_, _ = fmt.Sscanf(line, "--- level %d ---", &level)
		if n, _ := fmt.Sscanf(line, "%d:%d[", &number, &size); n == 2 {
			places[number] = Place{level, size}
		}
	}
	return places, err
}

func (db *goLevelDB) Keys(f func(key []byte)) error {
	iter := db.NewIterator(nil, nil)
	defer iter.Release()
	for iter.Next() {
		f(iter.Key())
	}
	return iter.Error()
}

func (db *goLevelDB) Get(key []byte) (bool, error) { return db.DB.Has(key, nil) }

func (db *goLevelDB) Has(key []byte) (bool, error) { return db.DB.Has(key, nil) }

// Memory assumes goleveldb's defaults: a database does not tell its options.
func (db *goLevelDB) Memory(blocks uint64) (cache, files verdict.Setting, err error) {
	tables, err := db.Tables()
	// goleveldb's buffers may be twice as large as the blocks in them.
	cache = verdict.Setting{Has: uint64(opt.DefaultBlockCacheCapacity), Required: 2 * blocks}
	files = verdict.Setting{Has: uint64(opt.DefaultOpenFilesCacheCapacity),
		Required: uint64(len(tables))}
	if files.Lacks() {
		files.Required += files.Required / 4 // for those to come
	}
	return cache, files, err
}

// A viewStorage has a manifest in memory, and the tables of a view. It calls read for each read of
// a table.
type viewStorage struct {
	storage.Storage
	view *View
	read func(number int)
}

func viewedStorage(v *View, read func(number int)) (storage.Storage, error) {
	var manifest storage.FileDesc
	if _, err := fmt.Sscanf(v.manifest, "MANIFEST-%d", &manifest.Num); err != nil {
		return nil, err
	}
	manifest.Type = storage.TypeManifest
	memory := storage.NewMemStorage()
	w, err := memory.Create(manifest)
	if err == nil {
		_, err = w.Write(v.Manifest)
		err = errors.Join(err, w.Close(), memory.SetMeta(manifest))
	}
	return &viewStorage{memory, v, read}, err
}

func (s *viewStorage) Open(fd storage.FileDesc) (storage.Reader, error) {
	if fd.Type != storage.TypeTable {
		return s.Storage.Open(fd)
	}
	file, err := os.Open(s.view.Paths[s.view.Tables[int(fd.Num)]])
	return countedReader{file, func() { s.read(int(fd.Num)) }}, err
}

type countedReader struct {
	*os.File
	read func()
}

func (r countedReader) ReadAt(p []byte, offset int64) (int, error) {
	r.read()
	return r.File.ReadAt(p, offset)
}
