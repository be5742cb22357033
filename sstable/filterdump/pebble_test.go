package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// pebbleDatabase writes a database of some tables, which stays open until the test ends.
func pebbleDatabase(t *testing.T, comparer *pebble.Comparer, version pebble.FormatMajorVersion) (dir string) {
	dir = t.TempDir()
	p, err := policy.NewBloom(10)
	require.NoError(t, err)
	schema := colblk.DefaultKeySchema(comparer, 16)
	schema.Name = "schema of " + comparer.Name
	if comparer == pebble.DefaultComparer {
		schema = colblk.DefaultKeySchema(comparer, 16)
	}
	o := &pebble.Options{Comparer: comparer, FormatMajorVersion: version, KeySchema: schema.Name, KeySchemas: map[string]*pebble.KeySchema{schema.Name: &schema}, FS: vfs.Default}
	require.NoError(t, pebblev2.Configure(o, p))
	db, err := pebble.Open(dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for i := range 3000 {
		require.NoError(t, db.Set([]byte(fmt.Sprintf("key%06d@%03d", i/2, i%2)), bytes.Repeat([]byte{1}, 50), pebble.NoSync))
		if i%1000 == 999 {
			require.NoError(t, db.Flush())
		}
	}
	return dir
}

// prefixes has a Split whose rule its name does not tell.
func prefixes() *pebble.Comparer {
	c := *pebble.DefaultComparer
	c.Name = "test.prefixes"
	c.Split = func(key []byte) int {
		if i := bytes.IndexByte(key, '@'); i >= 0 {
			return i
		}
		return len(key)
	}
	return &c
}

// Pebble's databases, in use: all is verified where the comparer or the table tells what filters
// know of a key, and where nothing does the tables are unverified, and no key is called lost.
func TestPebbleDatabase(t *testing.T) {
	for _, c := range []struct {
		name     string
		comparer *pebble.Comparer
		version  pebble.FormatMajorVersion
		want     string
	}{
		{"rows", pebble.DefaultComparer, pebble.FormatMinSupported, "sound"},
		{"columns", pebble.DefaultComparer, pebble.FormatNewest, "sound"},
		{"rows of an unknown comparer", prefixes(), pebble.FormatMinSupported, "unverified"},
		{"columns of an unknown schema", prefixes(), pebble.FormatNewest, "unverified"},
	} {
		dir := pebbleDatabase(t, c.comparer, c.version)
		status, d := filterdumpJSON(t, "-verify", dir)
		require.NotEmpty(t, d.Tables, c.name)
		for _, table := range d.Tables {
			require.Equal(t, c.want, table.Status, "%s: %s: %s", c.name, filepath.Base(table.Path), table.Reason)
			require.True(t, strings.HasPrefix(table.Format, "Pebble v"), table.Format)
			require.Equal(t, policy.Name, table.Policy)
			require.Equal(t, "table", table.Layout)
			require.Equal(t, 1, table.Filters)
		}
		require.Equal(t, map[string]int{"sound": exitSound, "unverified": exitCannotRun}[c.want], status, c.name)
		_, out, _ := filterdump(t, "-long", dir)
		require.Contains(t, out, "k = 6", "%s: the bits can be told all the same", c.name)
	}
}
