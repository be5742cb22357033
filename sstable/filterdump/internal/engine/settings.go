package engine

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// Settings are what a database's files tell of the program that has it. A size that is not known is
// 0.
type Settings struct {
	Engine    string // the adapter: goleveldb, pebblev1, pebblev2; "" for RocksDB
	Cache     int64  // bytes of the block cache; goleveldb's default, since it records none
	MemTable  int64  // bytes of a memtable
	OpenFiles int64  // how many tables stay open, some more
	Merger    string // the name of Pebble's merger, "" if it is not known
}

// settingsOf reads the newest OPTIONS file. Databases without one may be goleveldb's, which has
// none, or Pebble's.
func settingsOf(dir string, entries []fs.DirEntry) (s Settings) {
	file, format, pebble := "", 0, false
	for _, e := range entries { // sorted
		switch {
		case strings.HasPrefix(e.Name(), "OPTIONS-"):
			file = newest(file, e.Name())
		case marked(e.Name(), "format-version") != "":
			format, _ = strconv.Atoi(marked(e.Name(), "format-version"))
		case Number(e.Name()) >= 0 && !pebble:
			pebble = tables.IsPebbles(filepath.Join(dir, e.Name()))
		}
	}
	text, _ := readFile(filepath.Join(dir, file), 1<<20)
	options := string(text)
	const lowestOfV2 = 13 // Pebble v2's FormatMinSupported, which few databases of v1 have
	switch {
	case strings.Contains(options, "key_schema="), options == "" && format >= lowestOfV2:
		s.Engine = "pebblev2"
	case strings.Contains(options, "pebble_version="), options == "" && (format > 0 || pebble):
		s.Engine = "pebblev1"
	case options == "":
		return Settings{Engine: "goleveldb", Cache: int64(opt.DefaultBlockCacheCapacity)}
	}
	s.Cache = sizeOf(options, "cache_size")
	s.MemTable = sizeOf(options, "mem_table_size")
	s.OpenFiles = sizeOf(options, "max_open_files")
	if found := mergerName.FindStringSubmatch(options); found != nil {
		s.Merger = found[1]
	}
	return s
}

var mergerName = regexp.MustCompile(`(?m)^ *merger=(.+)$`)

// sizeOf returns a number in an OPTIONS file, 0 if it is not there or a terabyte.
func sizeOf(options, name string) (n int64) {
	pattern := regexp.MustCompile(`(?m)^ *` + name + `=([0-9]{1,12})$`)
	if found := pattern.FindStringSubmatch(options); found != nil {
		n, _ = strconv.ParseInt(found[1], 10, 64)
	}
	return n
}
