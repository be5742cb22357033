package pebblev2_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// Tables of every format get filters of all kinds. They are what the policy builds, and avoid
// reads. A reader of any kind finds them by their name. The filter of a table that only deletes
// ranges is empty, and excludes all keys.
func TestTable(t *testing.T) {
	all := policytest.Keys(policytest.Rand(t, 10), 2000)
	absent := all[1000:]
	for _, format := range tableFormats() {
		for _, kind := range enginetest.Kinds {
			for _, n := range []int{0, 1, 1000} {
				t.Run(fmt.Sprintf("%s, %s, %d keys", format, kind.Name, n), func(t *testing.T) {
					present := slices.SortedFunc(slices.Values(all[:n]), bytes.Compare)
					path := filepath.Join(t.TempDir(), "table")
					p := kind.MustNew(10, policy.Name)
					writeTable(t, path, format, pebblev2.New(p), present)

					var filter []byte
					s := &spy{Policy: bloom(t, 3), saw: func(f []byte) { filter = bytes.Clone(f) }}
					filters := map[string]pebble.FilterPolicy{s.Name(): pebblev2.New(s)}
					require.Zero(t, lostInTable(t, path, filters, present))
					require.EqualValues(t, n, s.asked.Load())
					require.Zero(t, s.absent.Load())

					require.Equal(t, len(absent), lostInTable(t, path, filters, absent))
					require.EqualValues(t, n+len(absent), s.asked.Load())
					require.Greater(t, s.absent.Load(), int64(950), "of 1000 absent keys")
					if n == 0 {
						require.Empty(t, filter)
					} else {
						require.Equal(t, filterOf(p, present), filter)
					}

					s.lies = true
					require.Equal(t, n, lostInTable(t, path, filters, present),
						"lost keys are noticed")
				})
			}
		}
	}
}

// filterOf returns the filter that p builds of keys.
func filterOf(p policy.Policy, keys [][]byte) []byte {
	b := p.NewBuilder()
	for _, key := range keys {
		b.Add(key)
	}
	return b.Finish(nil)
}

// writeTable writes a table through the builder's door, with points and the deletion of a range.
func writeTable(
	t testing.TB, path string, format sstable.TableFormat, f pebble.FilterPolicy, keys [][]byte,
) {
	w, err := createTable(vfs.Default, path,
		sstable.WriterOptions{TableFormat: format, FilterPolicy: f})
	require.NoError(t, err)
	for _, key := range keys {
		require.NoError(t, w.Set(key, value(key)))
	}
	require.NoError(t, w.DeleteRange([]byte("b"), []byte("c")))
	require.NoError(t, w.Close())
}

// writeTableFor writes a table as db would, whose options are o.
func writeTableFor(
	db *pebble.DB, o *pebble.Options, path string, changes []enginetest.Change,
) error {
	w, err := createTable(o.FS, path, ensured(o).MakeWriterOptions(0, tableFormat(db)))
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.Value == nil {
			err = w.Delete(c.Key)
		} else {
			err = w.Set(c.Key, c.Value)
		}
		if err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}
