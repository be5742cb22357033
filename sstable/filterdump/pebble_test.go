package main

import (
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"

	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
)

// A table is unverified, and no key is called lost, if nobody knows what its filters know of a key:
// rows record a comparer's name, which does not tell its Split, and columns a schema's.
func TestUnverifiedPebble(t *testing.T) {
	comparer := *pebble.DefaultComparer
	comparer.Name = "test.\x1bprefixes" // which a terminal could take for a command
	comparer.Split = func(key []byte) int { return bytes.IndexByte(append(key, '@'), '@') }
	schema := colblk.DefaultKeySchema(&comparer, 16)
	schema.Name = "test.schema"
	for version, why := range map[pebble.FormatMajorVersion]string{
		pebble.FormatMinSupported: "the comparer test.\x1bprefixes is not known here",
		pebble.FormatNewest:       "the keys cannot be read, because the key schema test.schema",
	} {
		dir := t.TempDir()
		o := &pebble.Options{
			Comparer: &comparer, FormatMajorVersion: version,
			KeySchema: schema.Name, KeySchemas: sstable.MakeKeySchemas(&schema),
		}
		require.NoError(t, pebblev2.Configure(o, mustExact()))
		db, err := pebble.Open(dir, o)
		require.NoError(t, err)
		for i := range 1000 {
			key := []byte(fmt.Sprintf("key%06d@%03d", i/2, i%2))
			require.NoError(t, db.Set(key, nil, pebble.NoSync))
		}
		require.NoError(t, db.Flush())
		require.NoError(t, db.Close())
		status, d := filterdumpJSON(t, "--verify", dir)
		require.Equal(t, exitCannotRun, status)
		require.Len(t, d.Tables, 1)
		require.Equal(t, scan.Unverified, d.Tables[0].Status)
		require.Contains(t, d.Tables[0].Reason, why)
		require.Zero(t, d.Tables[0].FalseNegatives)
		_, out, _ := filterdump(t, dir)
		require.Contains(t, strings.Join(strings.Fields(out), " "),
			strings.ReplaceAll(why, "\x1b", `\x1b`))
		require.NotContains(t, out, "\x1b")
		require.Contains(t, out, " LevelDB Bloom ", "the encoding can be told all the same")
	}
}
