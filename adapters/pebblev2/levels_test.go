package pebblev2_test

import (
	"fmt"
	"math/rand"
	"regexp"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	engine "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
)

// oneLevel returns options whose Levels[0] a test can set.
func oneLevel() *pebble.Options { return &pebble.Options{} }

// filtersOf returns the name of the policy that o has in effect for each level.
func filtersOf(o *pebble.Options) (names [7]string) {
	for level, l := range ensured(o).Levels {
		names[level] = l.FilterPolicy.Name()
	}
	return names
}

// shapesOfLevels adds options whose levels differ, by name.
func shapesOfLevels(all map[string]*pebble.Options, _ *rand.Rand) {
	all["file sizes"] = &pebble.Options{TargetFileSizes: [7]int64{1 << 20, 0, 12345, 0, 0, 777, 0}}
	compressions := []func() *sstable.CompressionProfile{
		nil,
		func() *sstable.CompressionProfile { return sstable.NoCompression },
		func() *sstable.CompressionProfile { return sstable.ZstdCompression },
	}
	for level := range 7 {
		o := &pebble.Options{}
		o.Levels[level] = pebble.LevelOptions{
			BlockRestartInterval: 3 + level,
			BlockSize:            1000 * (level + 1),
			BlockSizeThreshold:   50 + level,
			Compression:          compressions[level%3],
			FilterPolicy:         engine.FilterPolicy(10),
			IndexBlockSize:       (level % 2) * 5000,
		}
		all[fmt.Sprintf("L%d", level)] = o
	}
	o := &pebble.Options{}
	o.Levels[6].FilterPolicy = pebble.NoFilterPolicy
	o.Levels[2].FilterPolicy = engine.FilterPolicy(10)
	all["filters at some levels"] = o
}

// raw shows o, with the addresses of what it points to, but for the filters.
func raw(o *pebble.Options) string {
	o = o.Clone()
	o.Filters, o.BlockPropertyCollectors = nil, nil // for the latter see TestMark
	for level := range o.Levels {
		o.Levels[level].FilterPolicy = nil
	}
	return fmt.Sprintf("%#v", *o)
}

// effective shows what Pebble makes of o, but for the filters.
func effective(o *pebble.Options) string {
	return regexp.MustCompile("filter_policy=.*").ReplaceAllString(ensured(o).String(), "")
}

// requireLevelsKept requires what only Pebble v1 can break: its options refer to their levels.
func requireLevelsKept(_ testing.TB, _, _ *pebble.Options) {}

// shareFiles gives o a file cache, until done is called.
func shareFiles(o *pebble.Options) (done func()) {
	o.FileCache = pebble.NewFileCache(1, 100)
	return o.FileCache.Unref
}

// Check also knows the option that only Pebble v2 has.
func TestCheckSize(t *testing.T) {
	o := &pebble.Options{FS: vfs.NewMem(), Logger: quiet{}, CacheSize: 123 << 20}
	db := open(t, "db", o)
	r, err := pebblev2.Check(o, db)
	require.NoError(t, err)
	require.Contains(t, r.String(), "the block cache (123.0 MiB) has room")
	require.NoError(t, db.Close())
}
