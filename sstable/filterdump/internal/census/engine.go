package census

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// engineOf returns the adapter for the engine of a database, "" for RocksDB, and the size of its
// block cache: the one in Pebble's newest OPTIONS file, or goleveldb's default.
func engineOf(dir string) (engine string, cache int64) {
	newest := ""
	entries, _ := os.ReadDir(dir) // sorted
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "OPTIONS-") {
			newest = e.Name()
		}
	}
	if newest == "" {
		return "goleveldb", 8 << 20
	}
	const enough = 1 << 20
	text, _ := tables.ReadStart(filepath.Join(dir, newest), enough)
	options := string(text)
	if size := cacheSize.FindStringSubmatch(options); size != nil {
		cache, _ = strconv.ParseInt(size[1], 10, 64)
	}
	switch {
	case strings.Contains(options, "key_schema="): // which is new in version 2
		return "pebblev2", cache
	case strings.Contains(options, "pebble_version="):
		return "pebblev1", cache
	}
	return "", cache
}

var cacheSize = regexp.MustCompile(`(?m)^ *cache_size=([0-9]+)$`)
