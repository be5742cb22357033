package pebblev2_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/tool"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
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

// Pebble's tools read databases with our filters, and ask them if they are registered.
func TestTools(t *testing.T) {
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			dir := t.TempDir()
			keys := policytest.Keys(policytest.Rand(t, 95), 1000)
			p := bloom(t, 10, policy.WithName("mine"))
			o := resting(configured(t, small(format), p))
			o.Comparer = toolComparer
			db := open(t, dir, o)
			put(t, db, keys[:500])
			put(t, db, keys[500:])
			info, err := db.SSTables(pebble.WithProperties())
			require.NoError(t, err)
			require.NoError(t, db.Close())
			paths, err := filepath.Glob(filepath.Join(dir, "*.sst"))
			require.NoError(t, err)
			require.Len(t, paths, len(info[0]))

			c := policy.Count(p)
			f := pebblev2.New(c)
			for _, path := range paths {
				require.NotContains(t, inspect(t, f, "sstable", "check", path), "FAILURE")
				require.Regexp(
					t,
					`(?m)^filter\s+mine$`,
					inspect(t, f, "sstable", "properties", path),
				)
				require.Contains(t, inspect(t, f, "sstable", "layout", path), "filter")
			}
			require.Equal(
				t,
				policy.Counters{MayContain: 1000},
				c.Snapshot(),
				"the check seeks every key",
			)
			require.Contains(
				t,
				inspect(t, f, "db", "check", dir),
				"checked 1000 points and 0 tombstone",
			)
			require.Contains(t, inspect(t, f, "db", "properties", dir), "filter")
			require.Contains(t, inspect(t, f, "db", "lsm", dir), "Filter")
			require.Contains(t, inspect(t, f, "db", "scan", dir), "scanned 1000 records")
			liar := pebblev2.New(&spy{Policy: p, lies: true})
			require.Contains(t, inspect(t, liar, "sstable", "check", paths[0]), "FAILURE")

			for _, key := range keys[:50] {
				require.Contains(
					t,
					inspect(t, f, "db", "get", dir, fmt.Sprintf("hex:%x", key)),
					fmt.Sprintf("[%x]", value(key)),
				)
			}
			asked := c.Snapshot().Sub(policy.Counters{MayContain: 1000})
			require.GreaterOrEqual(t, asked.MayContain, uint64(50))
			require.Positive(
				t,
				asked.ReadsAvoided,
				"keys of the older table are sought in the newer one first",
			)

			// A tool that does not know the policy ignores the filters.
			stranger := pebblev2.New(bloom(t, 10, policy.WithName("another")))
			require.Regexp(
				t,
				`(?m)^filter\s+mine$`,
				inspect(t, stranger, "sstable", "properties", paths[0]),
			)
			require.Contains(
				t,
				inspect(t, stranger, "db", "check", dir),
				"checked 1000 points and 0 tombstone",
			)
			require.Contains(
				t,
				inspect(t, stranger, "db", "get", dir, fmt.Sprintf("hex:%x", keys[0])),
				fmt.Sprintf("[%x]", value(keys[0])),
			)
		})
	}
}
