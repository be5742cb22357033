package engine

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verify"
)

// Settings are what a database's files tell of the program that has it. A size that is not known is
// 0.
type Settings struct {
	Engine    string // the adapter: goleveldb, pebblev1, pebblev2; "" for RocksDB
	Cache     int64  // bytes of the block cache; goleveldb's default, since it records none
	MemTable  int64  // bytes of a memtable
	MemTables int64  // how many there may be
	OpenFiles int64  // how many tables stay open, some more
	Merger    string // the name of Pebble's merger, "" if it is not known

	Policies []string // the names of Pebble's filter policies for new tables, "none" for none
}

var optionsName = regexp.MustCompile(`^OPTIONS-\d+$`)

// walDir are directories that Pebble would look for, of logs, which a view does not have.
var walDir = regexp.MustCompile(`(?m)^ *(wal_dir|secondary_dir)=.*$`)

// readSettings reads the newest OPTIONS file, which Pebble then checks. Databases without one may
// be goleveldb's, which has none, or Pebble's.
func (v *View) readSettings(entries []fs.DirEntry) error {
	s := &v.Settings
	file, format, pebble := "", 0, false
	for _, e := range entries { // sorted
		name := e.Name()
		switch {
		case optionsName.MatchString(name):
			if len(name) >= len(file) { // the number is higher
				file = name
			}
		case marked(name, "format-version") != "":
			format, _ = strconv.Atoi(marked(name, "format-version"))
		case Number(name) >= 0 && !pebble:
			pebble = verify.IsPebbles(filepath.Join(v.dir, name))
		}
	}
	options := ""
	if file != "" {
		text, err := readFile(filepath.Join(v.dir, file), 1<<20)
		if err != nil {
			return err
		}
		options = string(text)
		v.memory[file] = walDir.ReplaceAll(text, nil)
	}
	const lowestOfV2 = 13 // Pebble v2's FormatMinSupported, which few databases of v1 have
	switch {
	case strings.Contains(options, "key_schema="), options == "" && format >= lowestOfV2:
		s.Engine = "pebblev2"
	case strings.Contains(options, "pebble_version="), options == "" && (format > 0 || pebble):
		s.Engine = "pebblev1"
	case options == "":
		*s = Settings{Engine: "goleveldb", Cache: int64(opt.DefaultBlockCacheCapacity)}
		return nil
	}
	s.Cache = sizeOf(options, "cache_size")
	s.MemTable = sizeOf(options, "mem_table_size")
	s.MemTables = max(2, sizeOf(options, "mem_table_stop_writes_threshold"))
	s.OpenFiles = sizeOf(options, "max_open_files")
	s.Merger = strings.TrimPrefix(option(options, "merger"), "nullptr") // RocksDB's for none
	for _, found := range regexp.MustCompile(`(?m)^ *filter_policy=(.+)$`).FindAllStringSubmatch(
		options, -1) {
		s.Policies = append(s.Policies, found[1])
	}
	s.Policies = slices.Compact(s.Policies)
	return nil
}

// option returns the value of an option in an OPTIONS file, "" if it is not there.
func option(options, name string) string {
	found := regexp.MustCompile(`(?m)^ *` + name + `=(.+)$`).FindStringSubmatch(options)
	return strings.TrimSpace(append(found, "", "")[1])
}

// sizeOf returns a number in an OPTIONS file, 0 if it is not there or above a terabyte.
func sizeOf(options, name string) int64 {
	n, err := strconv.ParseUint(option(options, name), 10, 40)
	if err != nil {
		return 0
	}
	return int64(n)
}
