package pebblev2_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	engine "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
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

// shapes are options of many kinds, by name. Every call makes new ones.
func shapes() map[string]*pebble.Options {
	all := map[string]*pebble.Options{
		"zero": {},
		"fields outside the levels": {
			MemTableSize: 1 << 20, FlushSplitBytes: 1 << 19, BytesPerSync: 1 << 18,
			L0CompactionThreshold: 7, Comparer: comparers[1], Logger: quiet{},
			EventListener: &pebble.EventListener{}, CacheSize: 1 << 20,
		},
		"file sizes": {TargetFileSizes: [7]int64{1 << 20, 0, 12345, 0, 0, 777, 0}},
	}
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
	o.ApplyCompressionSettings(
		func() pebble.DBCompressionSettings { return pebble.DBCompressionGood })
	all["compression per level"] = o
	o = &pebble.Options{}
	o.Levels[6].FilterPolicy = pebble.NoFilterPolicy
	o.Levels[2].FilterPolicy = engine.FilterPolicy(10)
	all["filters at some levels"] = o
	o = &pebble.Options{FS: vfs.NewMem()}
	o.EnsureDefaults()
	all["with defaults"] = o
	return all
}

// raw shows o, with the addresses of what it points to, but for the filters.
func raw(o *pebble.Options) string {
	o = o.Clone()
	o.Filters = nil
	for level := range o.Levels {
		o.Levels[level].FilterPolicy = nil
	}
	return fmt.Sprintf("%#v", *o)
}

// effective shows what Pebble makes of o, but for the filters.
func effective(o *pebble.Options) string {
	return regexp.MustCompile("filter_policy=.*").ReplaceAllString(ensured(o).String(), "")
}

func TestConfigureChangesFiltersOnly(t *testing.T) {
	p, q := bloom(t, 10, policy.WithName("p")), bloom(t, 8, policy.WithName("q"))
	for name, configure := range map[string]func(o *pebble.Options) error{
		"Configure": func(o *pebble.Options) error { return pebblev2.Configure(o, p) },
		"WithL6": func(o *pebble.Options) error {
			return pebblev2.Configure(o, p, pebblev2.WithL6(p))
		},
		"ConfigureLevels": func(o *pebble.Options) error {
			return pebblev2.ConfigureLevels(o, []policy.Policy{q, nil, p})
		},
	} {
		want := map[string][7]string{
			"Configure":       {"p", "p", "p", "p", "p", "p", "none"},
			"WithL6":          {"p", "p", "p", "p", "p", "p", "p"},
			"ConfigureLevels": {"q", "none", "p", "none", "none", "none", "none"},
		}[name]
		for shape, o := range shapes() {
			t.Run(name+"/"+shape, func(t *testing.T) {
				rawBefore, effectiveBefore := raw(o), effective(o)
				require.NoError(t, configure(o))
				require.Equal(t, rawBefore, raw(o))
				require.Equal(t, effectiveBefore, effective(o))
				require.Equal(t, want, filtersOf(o))
			})
		}
	}
}

// CheckCache also knows the option that only Pebble v2 has.
func TestCheckCacheSize(t *testing.T) {
	o := &pebble.Options{FS: vfs.NewMem(), Logger: quiet{}, CacheSize: 123 << 20}
	db := open(t, "db", o)
	r, err := pebblev2.CheckCache(o, db)
	require.NoError(t, err)
	require.EqualValues(t, 123<<20, r.Cache)
	require.NoError(t, db.Close())
}
