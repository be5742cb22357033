package pebblev2_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/tool"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// inspect runs one of Pebble's tools with f registered and returns what it prints.
func inspect(t testing.TB, f pebble.FilterPolicy, args ...string) string {
	for _, c := range tool.New(tool.Filters(f), tool.Comparers(toolComparer)).Commands {
		if c.Name() == args[0] {
			var out bytes.Buffer
			c.SetArgs(args[1:])
			c.SetOut(&out)
			c.SetErr(&out)
			require.NoError(t, c.Execute(), "%s", &out)
			return out.String()
		}
	}
	t.Fatalf("no tool %q", args[0])
	return ""
}

// Pebble's tools read databases with our filters. They consult these if the policy is registered,
// and ignore them otherwise.
func TestTools(t *testing.T) {
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			dir, keys := t.TempDir(), enginetest.Keys(enginetest.Rand(t, 95), 1000)
			p := bloom(t, 10, policy.WithName("mine"))
			o := resting(configured(t, small(format), p))
			o.Comparer = toolComparer
			db := open(t, dir, o)
			put(t, db, keys)
			require.NoError(t, db.Close())
			tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
			require.NoError(t, err)

			c := policy.Count(p)
			stranger := bloom(t, 10, policy.WithName("another"))
			for _, f := range []pebble.FilterPolicy{pebblev2.New(c), pebblev2.New(stranger)} {
				for _, table := range tables {
					require.NotContains(t, inspect(t, f, "sstable", "check", table), "FAILURE")
					require.Regexp(t, `(?m)^filter\s+mine$`,
						inspect(t, f, "sstable", "properties", table))
				}
				require.Contains(t, inspect(t, f, "db", "check", dir),
					"checked 1000 points and 0 tombstone")
				require.Contains(t, inspect(t, f, "db", "get", dir, fmt.Sprintf("hex:%x", keys[0])),
					fmt.Sprintf("[%x]", value(keys[0])))
			}
			require.GreaterOrEqual(t, c.Snapshot().MayContain, uint64(1000+1),
				"the check of a table seeks every key")
			liar := pebblev2.New(&enginetest.Spy{Policy: p, Lies: true})
			require.Contains(t, inspect(t, liar, "sstable", "check", tables[0]), "FAILURE")
		})
	}
}
