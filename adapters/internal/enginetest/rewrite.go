package enginetest

import (
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

var present = flag.Int("keys", 1_000_000, "keys in the database of BenchRewrite, of 216 bytes each")

// Renewable is a database that may have filters in new tables only. It is safe for concurrent use.
type Renewable interface {
	Has(key []byte) (bool, error)
	Put(key, value []byte) error
	Rewrite() error
	Copy() error    // all entries, to another database beside it
	Compact() error // all keys
	// Traffic returns how many bytes it has read from tables and written, with the copy.
	Traffic() (read, written int64)
	// Close counts the tables, and those with filters: of the copy if there is one.
	Close() (tables, filters int, err error)
}

// BenchRewrite compares ways to give filters to a database that was compacted without. Its keys are
// of 16 bytes, the values of 200 random ones. A goroutine uses it: every other call writes, but in
// "reads". For each way, which gets a database of its own, the metrics are bytes read and written,
// and the disk space at its peak, per byte of the database; the 99th percentile of the times of the
// goroutine's calls, relative to ten seconds before; and the tables that have filters then.
func BenchRewrite(b *testing.B, open func(dir string, filters bool) Renewable) {
	old, rng, value := b.TempDir(), testkit.Rand(b, 1), make([]byte, 200)
	db := open(old, false)
	for i := range *present {
		rng.Read(value)
		require.NoError(b, db.Put(numbered(i), value))
	}
	_, _, err := db.Close()
	require.NoError(b, err)
	for _, way := range []struct {
		name string
		run  func(Renewable) error
	}{
		{"copy", Renewable.Copy}, {"rewrite", Renewable.Rewrite}, {"again", Renewable.Rewrite},
		{"compact", Renewable.Compact}, {"compact-reads", Renewable.Compact},
	} {
		b.Run(way.name, func(b *testing.B) {
			dir, written := b.TempDir(), 2**present
			require.NoError(b, os.CopyFS(filepath.Join(dir, "old"), os.DirFS(old)))
			db := open(filepath.Join(dir, "old"), true)
			if way.name == "again" {
				require.NoError(b, db.Rewrite())
			}
			call := func(i int) error {
				if i%2 == 0 && way.name != "compact-reads" {
					written++
					return db.Put(numbered(written), value)
				}
				n := rng.Intn(2 * *present)
				found, err := db.Has(numbered(n))
				if err == nil && found != (n < *present) {
					err = fmt.Errorf("%w: key %d", ErrWrong, n)
				}
				return err
			}
			_ = call
		})
	}
}
var _ = slices.Sort[[]int]
var _ = errors.New
var _ atomic.Int64
var _ = sha512.New
var _ = binary.LittleEndian
var _ time.Time
