package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

type goLevelDB struct {
	*leveldb.DB
	files storage.Storage
}

func openGoLevelDB(o Options, policies []*policy.Policy, read func(number int)) (DB, error) {
	files, err := storage.OpenFile(o.View, true)
	if err != nil {
		return nil, err
	}
	const all = 1 << 30 // of the tables
	options := &opt.Options{ReadOnly: true, DisableBlockCache: true, OpenFilesCacheCapacity: all}
	for _, p := range policies {
		options.AltFilters = append(options.AltFilters, goleveldb.New(p))
	}
	db, err := leveldb.Open(&countedStorage{files, read}, options)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return &goLevelDB{db, files}, nil
}

func (db *goLevelDB) Close() error { return errors.Join(db.DB.Close(), db.files.Close()) }

func (db *goLevelDB) Levels() (map[int]int, error) {
	text, err := db.GetProperty("leveldb.sstables")
	levels, level := map[int]int{}, 0
	for _, line := range strings.Split(text, "\n") {
		var number int
		if n, _ := fmt.Sscanf(line, "--- level %d ---", &level); n == 1 {
			continue
		}
		if n, _ := fmt.Sscanf(line, "%d:", &number); n == 1 {
			levels[number] = level
		}
	}
	return levels, err
}

func (db *goLevelDB) Keys(f func(key []byte)) error {
	iter := db.NewIterator(nil, nil)
	defer iter.Release()
	for iter.Next() {
		f(iter.Key())
	}
	return iter.Error()
}

func (db *goLevelDB) Get(key []byte) (bool, error) {
	_, err := db.DB.Get(key, nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (db *goLevelDB) Has(key []byte) (bool, error) { return db.Get(key) }

// Memory assumes goleveldb's defaults: a database does not tell its options.
func (db *goLevelDB) Memory(s Sizes) (string, error) {
	r, err := goleveldb.CheckCache(&opt.Options{DisableSeeksCompaction: true}, db.DB)
	const mib = 1 << 20
	needed := s.Filters + s.Indexes
	blocks := fmt.Sprintf("filters and indexes (%.1f MiB) twice", float64(needed)/mib)
	switch {
	case 2*needed > r.Cache: // goleveldb's buffers may be twice as large as the blocks in them
		blocks = fmt.Sprintf("is too small for %s: set Options.BlockCacheCapacity to %d, or more "+
			"for the data", blocks, 2*needed)
	case r.Tables > r.OpenFiles:
		blocks = "has room for " + blocks
	default:
		return "", err
	}
	r.NoFilters = false
	files, _, _ := strings.Cut(r.String(), "\n")
	return fmt.Sprintf("With goleveldb's default options, %s; the block cache (%.1f MiB) %s.",
		files, float64(r.Cache)/mib, blocks), err
}

// A countedStorage tells of the reads of tables: of other files, goleveldb calls no ReadAt.
type countedStorage struct {
	storage.Storage
	read func(number int)
}

type countedReader struct {
	storage.Reader
	read func()
}

func (s *countedStorage) Open(fd storage.FileDesc) (storage.Reader, error) {
	r, err := s.Storage.Open(fd)
	return countedReader{r, func() { s.read(int(fd.Num)) }}, err
}

func (r countedReader) ReadAt(p []byte, offset int64) (int, error) {
	r.read()
	return r.Reader.ReadAt(p, offset)
}
