package main

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	v1 "github.com/cockroachdb/pebble"
	v2 "github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/pebblev1"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
)

// A writer opens a database in dir with a policy, puts keys from one number to another, and closes
// it so that they are in a table.
type writer func(t testing.TB, dir string, p *policy.Policy, from, to int)

const inWindows = "goleveldb" // whose filters are small

var writers = map[string]writer{
	inWindows:                  goleveldbWriter(),
	"goleveldb, large windows": goleveldbWriter(goleveldb.WithFilterBaseLg(20)),
	"Pebble v1":                pebbleV1Writer(v1.FormatMostCompatible),
	"Pebble v1, newest":        pebbleV1Writer(v1.FormatNewest),
	"Pebble v2": func(t testing.TB, dir string, p *policy.Policy, from, to int) {
		o := &v2.Options{L0CompactionThreshold: 12, FormatMajorVersion: v2.FormatNewest}
		require.NoError(t, pebblev2.Configure(o, p))
		db, err := v2.Open(dir, o)
		require.NoError(t, err)
		for i := from; i < to; i++ {
			require.NoError(t, db.Set(kindsKey(i), make([]byte, 100), v2.NoSync))
		}
		require.NoError(t, db.Flush())
		require.NoError(t, db.Close())
	},
}

// pebbleV1Writer writes with Pebble v1.
func pebbleV1Writer(version v1.FormatMajorVersion) writer {
	return func(t testing.TB, dir string, p *policy.Policy, from, to int) {
		o := &v1.Options{L0CompactionThreshold: 12, FormatMajorVersion: version}
		require.NoError(t, pebblev1.Configure(o, p))
		db, err := v1.Open(dir, o)
		require.NoError(t, err)
		for i := from; i < to; i++ {
			require.NoError(t, db.Set(kindsKey(i), make([]byte, 100), v1.NoSync))
		}
		require.NoError(t, db.Flush())
		require.NoError(t, db.Close())
	}
}

// goleveldbWriter writes with goleveldb.
func goleveldbWriter(opts ...goleveldb.Option) writer {
	return func(t testing.TB, dir string, p *policy.Policy, from, to int) {
		o := &opt.Options{CompactionL0Trigger: 100}
		require.NoError(t, goleveldb.Configure(o, p, opts...))
		db, err := leveldb.OpenFile(dir, o)
		require.NoError(t, err)
		for i := from; i < to; i++ {
			require.NoError(t, db.Put(kindsKey(i), make([]byte, 100), nil))
		}
		require.NoError(t, db.Close())
		db, err = leveldb.OpenFile(dir, o) // it makes a table of the log
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
}

func kindsKey(i int) []byte { return []byte(fmt.Sprintf("user%012d", 3*i)) }

// A database whose setting has changed has tables of all encodings.
func TestMixedDatabases(t *testing.T) {
	for name, write := range writers {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, mustExact(), 1, 1000)
			write(t, dir, mustExact(), 1000, 2000)
			write(t, dir, mustRibbon(), 2000, 5000)
			status, d := filterdumpJSON(t, "--verify", dir)
			require.Equal(t, exitSound, status)
			total := map[string]int{}
			for _, table := range d.Tables {
				require.Equal(t, scan.Sound, table.Status, table.Reason)
				require.Len(t, table.Encodings, 1)
				for encoding, n := range table.Encodings {
					require.Equal(t, table.WithKeys, n)
					total[encoding] += n
				}
			}
			require.Len(t, total, 2)

			paths, err := tables.Find(dir)
			require.NoError(t, err)
			_, long, _ := filterdump(t, paths...)
			_, short, _ := filterdump(t, dir)
			for name := range total {
				line := `(?m)^  \d+\.(ldb|sst) +` + policy.Name + ` +` + name + ` +\d+ +\d+\.\d +sound$`
				require.Regexp(t, line, long)
				require.Regexp(t, line, short)
			}
			for _, line := range strings.Split(long+short, "\n") {
				fits := utf8.RuneCountInString(line) <= 100
				require.True(t, fits || strings.Contains(line, dir), "a line is too wide: %s", line)
			}
		})
	}
}

func mustExact() *policy.Policy { return policytest.Must(policy.NewBloom(10)) }

func mustRibbon() *policy.Policy { return policytest.Must(policy.NewRibbon(10)) }
