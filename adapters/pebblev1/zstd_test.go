package pebblev1_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// compression is what the tests' databases compress with: zstd where this program can read it, as
// with CGO_ENABLED=0.
var compression = func() pebble.Compression {
	if readsZstd() {
		return pebble.ZstdCompression
	}
	return pebble.SnappyCompression
}()

// readsZstd reports whether Pebble, without this module's part, finds a key in a table that it
// compressed with zstd.
func readsZstd() bool {
	db, err := pebble.Open("db", &pebble.Options{
		FS: vfs.NewMem(), Logger: quiet{},
		Levels: []pebble.LevelOptions{{Compression: pebble.ZstdCompression}},
	})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	key := []byte("key")
	if err := db.Set(key, make([]byte, 1000), pebble.NoSync); err != nil {
		panic(err)
	}
	if err := db.Flush(); err != nil {
		panic(err)
	}
	_, closer, err := db.Get(key)
	return err == nil && closer.Close() == nil
}

// Configure refuses zstd in any level that a database has, where this program cannot read it, and
// only there. Built with cgo, this module cannot.
func TestZstd(t *testing.T) {
	t.Logf("this program reads zstd: %t", readsZstd())
	p := bloom(t, 10)
	for n := range 10 {
		for at := -1; at < n; at++ {
			o := &pebble.Options{Levels: make([]pebble.LevelOptions, n)}
			if at >= 0 {
				o.Levels[at].Compression = pebble.ZstdCompression
			}
			uses := false
			for level := range 7 {
				uses = uses || ensured(o).Level(level).Compression == pebble.ZstdCompression
			}
			before := fmt.Sprintf("%#v", *o)
			for _, configure := range []configuring{one(p), levels(make([]*policy.Policy, 7)...)} {
				err := configure(o.Clone())
				if readsZstd() || !uses {
					require.NoError(t, err, "entry %d of %d", at, n)
					continue
				}
				require.ErrorContains(t, err, "zstd", "entry %d of %d", at, n)
				require.ErrorContains(t, err, "CGO_ENABLED=0")
				require.ErrorContains(t, err, "v1.4.5")
				require.ErrorContains(t, configure(o), "zstd")
				require.Equal(t, before, fmt.Sprintf("%#v", *o))
			}
		}
	}
}
