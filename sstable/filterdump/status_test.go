package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// A dropping policy makes filters without one key.
type dropping struct {
	policy.Policy
	key string
}

func (p dropping) NewBuilder() policy.Builder { return droppingBuilder{p.Policy.NewBuilder(), p.key} }

type droppingBuilder struct {
	policy.Builder
	key string
}

func (b droppingBuilder) Add(key []byte) {
	if string(key) != b.key {
		b.Builder.Add(key)
	}
}

// One lost key among many is a fault, wherever it lies.
func TestOneLostKey(t *testing.T) {
	const keys = 50
	for _, i := range []int{0, 17, keys - 1} {
		key := fmt.Sprintf("key%05d", i*17)
		bits, err := policy.NewBloom(20)
		require.NoError(t, err)
		file, _ := plainTable(t, dropping{bits, key}, keys, 9)
		path := filepath.Join(t.TempDir(), "000001.ldb")
		require.NoError(t, os.WriteFile(path, file, 0o600))
		for _, args := range [][]string{{path}, {"-verify", path}} {
			status, d := filterdumpJSON(t, args...)
			require.Equal(t, exitFault, status, "%s, %v", key, args)
			require.Equal(t, "FAULTY: 1 table with false negatives: 1 entry not matched by their "+
				"filter", d.Verdict)
			require.Equal(t, "false negative", d.Tables[0].Status)
			require.Equal(t, 1, d.Tables[0].FalseNegatives)
			require.Equal(t, []string{fmt.Sprintf("%x", key)}, d.Tables[0].Lost)
			require.Equal(t, keys, d.Tables[0].Entries)
		}
	}
}

// A table that a killed process has left is no part of the database: no manifest names it. One that
// a manifest names is corrupt.
func TestLeftOver(t *testing.T) {
	for name, write := range writers {
		dir := t.TempDir()
		write(t, dir, mustExact(t), 1, 1000)
		write(t, dir, mustExact(t), 1000, 2000)
		paths, err := filepath.Glob(filepath.Join(dir, "*.[ls][ds][bt]"))
		require.NoError(t, err)
		require.NotEmpty(t, paths, name)
		whole, err := os.ReadFile(paths[0])
		require.NoError(t, err)
		cut := func(path string) {
			require.NoError(t, os.WriteFile(path, whole[:len(whole)/2], 0o600))
			long := time.Now().Add(-time.Hour)
			require.NoError(t, os.Chtimes(path, long, long))
		}
		left := filepath.Join(dir, "999999"+filepath.Ext(paths[0]))
		cut(left)
		for _, args := range [][]string{{dir}, {"-verify", dir}, {"-verify", left}} {
			status, out, _ := filterdump(t, args...)
			require.Equal(t, exitSound, status, "%s: %s", name, out)
			require.Contains(t, out, "1 table left over: no manifest names it", name)
			require.NotContains(t, out, "FAULTY", name)
		}
		for _, path := range paths {
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			cut(path)
			status, out, _ := filterdump(t, "-verify", dir)
			require.Equal(t, exitFault, status, "%s: %s", name, out)
			require.Contains(t, out, "FAULTY: 1 table corrupt; ", name)
			require.NoError(t, os.WriteFile(path, before, 0o600))
		}
		// The names in a manifest are not taken for numbers.
		var unnamed []string
		for printable := ' '; printable <= '~'; printable++ {
			unnamed = append(unnamed, filepath.Join(dir, fmt.Sprintf("%06d.sst", printable)))
		}
		require.Len(t, tables.LeftOver(dir, unnamed), len(unnamed), name)
		// A manifest that cannot be read to its end may have named it.
		manifests, err := filepath.Glob(filepath.Join(dir, "MANIFEST-*"))
		require.NoError(t, err)
		manifest, err := os.ReadFile(manifests[0])
		require.NoError(t, err)
		for _, broken := range [][]byte{
			nil, manifest[:len(manifest)-1], append(manifest[:7:7], manifest[8:]...),
		} {
			require.NoError(t, os.WriteFile(manifests[0], broken, 0o600))
			status, _, _ := filterdump(t, "-verify", left)
			require.Equal(t, exitFault, status, name)
		}
	}
}

// The manifest that C++ LevelDB wrote names its tables.
func TestLeftOverOfLevelDB(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(golden("leveldb", "tables", "multi_level"))))
	for name, want := range map[string]int{"000999.ldb": exitSound, "": exitFault} {
		if name == "" {
			paths, err := filepath.Glob(filepath.Join(dir, "*.ldb"))
			require.NoError(t, err)
			name = filepath.Base(paths[0])
		}
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte("a beginning"), 0o600))
		long := time.Now().Add(-time.Hour)
		require.NoError(t, os.Chtimes(path, long, long))
		status, out, _ := filterdump(t, "-verify", path)
		require.Equal(t, want, status, out)
	}
}

// Pebble divides a table into parts by its manifest alone, which then names the file in another
// way.
func TestLeftOverOfVirtualTables(t *testing.T) {
	dir := t.TempDir()
	writers["Pebble v2"](t, dir, mustExact(t), 1, 3000)
	for range 4 { // each time there is a new manifest, and one before it is kept
		db, err := pebble.Open(dir, &pebble.Options{FormatMajorVersion: pebble.FormatNewest,
			DisableAutomaticCompactions: true})
		require.NoError(t, err)
		require.NoError(t, db.Excise(context.Background(),
			pebble.KeyRange{Start: kindsKey(1000), End: kindsKey(2000)}))
		require.NoError(t, db.Close())
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	require.NoError(t, err)
	require.Len(t, paths, 1)
	require.NoError(t, os.Truncate(paths[0], 1000))
	long := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(paths[0], long, long))
	status, out, _ := filterdump(t, "-verify", dir)
	require.Equal(t, exitFault, status, out)
}
