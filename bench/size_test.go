package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
	"github.com/levelbloom/levelbloom/policy/sizing"
)

func runSize(args ...string) (string, error) {
	var b bytes.Buffer
	err := run(context.Background(), append([]string{"size"}, args...), &b)
	return b.String(), err
}

func TestSizeRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		`-n: "0": pass a`:       {"-n", "0"},
		"-fpp 1: pass one":      {"-fpp", "1"},
		"-fpp 2: pass one":      {"-fpp", "200%"},
		`value "%" for flag`:    {"-fpp", "%"},
		`value "1 %%" for flag`: {"-fpp", "1 %%"},
		`-memory: "16"`:         {"-memory", "16"},
		`-memory: "NaNMiB"`:     {"-memory", "NaNMiB"},
		"pass one of them":      {"-memory", "1MiB", "-fpp", "0.1"},
		`-per-filter: "x"`:      {"-per-filter", "x"},
		"8.2e-07 bits per key":  {"-memory", "0.001KiB"},
	} {
		_, err := runSize(args...)
		require.ErrorContains(t, err, want)
	}
}

// A rate may be written in per cent.
func TestRatesInPerCent(t *testing.T) {
	for text, want := range map[string]float64{
		"0.01": 0.01, "1%": 0.01, "0.1%": 0.001, "1 %": 0.01, "1e-3": 0.001,
	} {
		s := newSizeFlags()
		require.NoError(t, s.parse([]string{"-fpp", text}, io.Discard))
		require.InEpsilon(t, want, s.fpp, 1e-12)
	}
	out, err := runSize("-n", "10k", "-fpp", "1%")
	require.NoError(t, err)
	require.Contains(t, out, "\n-fpp 0.01, ")
}

// 20 filters of 500 keys in 16 KiB: 13.1 bits per key for each kind, in 17 KiB at most.
func TestSize(t *testing.T) {
	file := filepath.Join(t.TempDir(), "size.json")
	out, err := runSize("-n", "10k", "-per-filter", "500", "-memory", "16KiB", "-levels", "-json",
		file)
	require.NoError(t, err)
	require.Contains(t, out, "policy.FromString(\"ribbon:")
	require.Contains(t, out, "L5 │")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var written struct{ Records []sizeRecord }
	require.NoError(t, json.Unmarshal(data, &written))
	require.Len(t, written.Records, 3*3) // the whole, L0 and L5
	for _, r := range written.Records {
		if r.Level == "all" {
			require.Equal(t, 13.1, r.Bits)
			require.InDelta(t, 16<<10, r.Bytes, 1<<10)
			require.Less(t, r.FPP, 0.0035)
			require.Greater(t, r.FPP, 0.0001)
		}
	}
}

// In Pebble, the same memory has fewer false positives if sizing.Levels distributes it.
func TestLevelsInPebble(t *testing.T) {
	const bits = 6
	keys := []int{0, 0, 0, 100, 1000, 10_000, 0}
	even := make([]policy.Policy, 6)
	for level := range even {
		even[level] = policytest.Must(policy.NewBloom(bits))
	}
	levels, err := sizing.Levels("bloom", keys, bits)
	require.NoError(t, err)
	before, beforeBytes := falsePositivesInPebble(t, keys, even)
	after, afterBytes := falsePositivesInPebble(t, keys, levels)
	t.Logf("%d false positives in %d bytes, distributed %d in %d", before, beforeBytes, after,
		afterBytes)
	require.Less(t, afterBytes, beforeBytes*101/100)
	require.Less(t, float64(after), 0.6*float64(before))
	require.Greater(t, float64(after), 0.3*float64(before))
}

// falsePositivesInPebble returns how many filters have a false positive in 20,000 lookups of absent
// keys, and the bytes of all filters. The levels have so many keys, and L6 some more.
func falsePositivesInPebble(t *testing.T, keys []int, levels []policy.Policy) (int64, uint64) {
	fs := vfs.NewMem()
	o := &pebble.Options{
		FS: fs, DisableAutomaticCompactions: true,
		LBaseMaxBytes: 1, // so that Pebble uses more levels than L0 and L6
	}
	require.NoError(t, pebblev2.ConfigureLevels(o, levels))
	o.EnsureDefaults()
	db, err := pebble.Open("", o)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	rng := policytest.Rand(t, 7)
	key := func(suffix string) []byte { return fmt.Appendf(nil, "%016x%s", rng.Uint64(), suffix) }
	for level := 6; level >= 0; level-- { // Pebble puts a table above those that it overlaps
		if keys[level] == 0 && level < 6 {
			continue
		}
		var present [][]byte
		for range max(keys[level], 1000*(level/6)) {
			present = append(present, key("present"))
		}
		slices.SortFunc(present, bytes.Compare)
		f, err := fs.Create("ingested", vfs.WriteCategoryUnspecified)
		require.NoError(t, err)
		w := sstable.NewWriter(objstorageprovider.NewFileWritable(f),
			o.MakeWriterOptions(level, db.TableFormat()))
		for _, k := range present {
			require.NoError(t, w.Set(k, nil))
		}
		require.NoError(t, w.Close())
		require.NoError(t, db.Ingest(context.Background(), []string{"ingested"}))
	}
	for range 20_000 {
		_, _, err := db.Get(key("absent"))
		require.ErrorIs(t, err, pebble.ErrNotFound)
	}
	tables, err := db.SSTables(pebble.WithProperties())
	require.NoError(t, err)
	var size uint64
	for level, infos := range tables {
		entries := 0
		for _, info := range infos {
			entries += int(info.Properties.NumEntries)
			size += info.Properties.FilterSize
		}
		require.Equal(t, max(keys[level], 1000*(level/6)), entries, "L%d", level)
	}
	return db.Metrics().Filter.Misses, size
}
