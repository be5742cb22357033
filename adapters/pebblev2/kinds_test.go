package pebblev2_test

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// filterOf returns the filter that p builds of keys.
func filterOf(p policy.Policy, keys [][]byte) []byte {
	b := p.NewBuilder()
	for _, key := range keys {
		b.Add(key)
	}
	return b.Finish(nil)
}

// Tables of every format get filters of all kinds. They are what the policy builds, and avoid
// reads. A reader of any kind finds them by their name.
func TestTableBuilder(t *testing.T) {
	all := policytest.Keys(policytest.Rand(t, 10), 2000)
	absent := all[1000:]
	for _, format := range tableFormats() {
		for _, kind := range enginetest.Kinds {
			for _, n := range []int{1, 1000} {
				t.Run(fmt.Sprintf("%s, %s, %d keys", format, kind.Name, n), func(t *testing.T) {
					present := sorted(all[:n])
					path := filepath.Join(t.TempDir(), "table")
					p := kind.MustNew(10, policy.Name)
					writeTable(t, path, format, pebblev2.New(p), present)

					s, filter := capture(bloom(t, 3))
					filters := map[string]pebble.FilterPolicy{s.Name(): pebblev2.New(s)}
					require.Zero(t, lostInTable(t, path, filters, present))
					require.EqualValues(t, n, s.asked.Load())
					require.Zero(t, s.absent.Load())
					require.Equal(t, filterOf(p, present), *filter)

					require.Equal(t, len(absent), lostInTable(t, path, filters, absent))
					require.EqualValues(t, n+len(absent), s.asked.Load())
					require.Greater(t, s.absent.Load(), int64(950), "of 1000 absent keys")

					s.lies = true
					require.Equal(t, n, lostInTable(t, path, filters, present),
						"lost keys are noticed")
				})
			}
		}
	}
}

// storedOptions returns the newest options file of a database.
func storedOptions(t testing.TB, fs vfs.FS, dir string) string {
	names, err := fs.List(dir)
	require.NoError(t, err)
	names = slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasPrefix(name, "OPTIONS-")
	})
	file, err := fs.Open(fs.PathJoin(dir, slices.Max(names)))
	require.NoError(t, err)
	defer file.Close()
	text, err := io.ReadAll(file)
	require.NoError(t, err)
	return string(text)
}

// Levels have policies of different kinds, under names of their own or under one. ByName finds them
// for the options that the database stores, and every candidate of the one name reads all.
func TestKindsPerLevel(t *testing.T) {
	for _, format := range enginetest.Some(formats) {
		for _, oneName := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, one name %v", format, oneName), func(t *testing.T) {
				fs, keys := vfs.NewMem(), policytest.Keys(policytest.Rand(t, 112), 3000)
				options := func() *pebble.Options {
					o := small(format)
					o.FS = fs
					return o
				}
				levels := make([]policy.Policy, 7)
				var candidates []policy.Policy
				for i, kind := range enginetest.Kinds {
					name := "mine"
					if !oneName {
						name = kind.Name
					}
					p := policy.Count(kind.MustNew(float64(10+i), name))
					candidates = append(candidates, p)
					for level := i; level < len(levels); level += len(enginetest.Kinds) {
						levels[level] = p
					}
				}
				configured := func() *pebble.Options {
					o := options()
					require.NoError(t, pebblev2.ConfigureLevels(o, levels))
					return o
				}
				fill(t, "db", configured, keys)
				stored := storedOptions(t, fs, "db")
				for range candidates {
					candidates = append(candidates[1:], candidates[0])
					o := options()
					hooks := &pebble.ParseHooks{NewFilterPolicy: pebblev2.ByName(candidates...)}
					require.NoError(t, o.Parse(stored, hooks))
					o.Filters = map[string]pebble.FilterPolicy{}
					for level, p := range levels {
						want := pebblev2.New(p)
						if oneName {
							want = pebblev2.New(candidates[0])
						}
						require.Equal(t, want, filterAt(o, level), "L%d", level)
						o.Filters[want.Name()] = want
					}
					before := sum(candidates)
					o.Comparer = comparers[0] // v1's default, which the file names, has no Split
					db := open(t, "db", resting(o))
					requireFound(t, db, keys)
					requireCounts(t, db, sum(candidates).Sub(before))
					require.NoError(t, db.Close())
				}
			})
		}
	}
}
