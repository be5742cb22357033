package pebblev2_test

import (
	"bytes"
	"crypto/sha512"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// value returns what the tests write under key.
func value(key []byte) []byte {
	sum := sha512.Sum512(key) // does not compress
	return sum[:]
}

func bloom(t testing.TB, bitsPerKey float64, opts ...policy.Option) *policy.Policy {
	p, err := policy.NewBloom(bitsPerKey, opts...)
	require.NoError(t, err)
	return p
}

// configured returns o with p as policy.
func configured(
	t testing.TB, o *pebble.Options, p *policy.Policy, opts ...pebblev2.Option,
) *pebble.Options {
	require.NoError(t, pebblev2.Configure(o, p, opts...))
	return o
}

// open opens a database, which the test closes. If the test fails, open closes it, so that it does
// not go on in the background.
func open(t testing.TB, dir string, o *pebble.Options) *pebble.DB {
	db, err := pebble.Open(dir, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			defer func() { _ = recover() }() // Close panics if the database is closed already
			_ = db.Close()
		}
	})
	return db
}

// openLoaded opens a database, and waits until Pebble has read in the background what it wants to
// know of the tables on disk.
func openLoaded(t testing.TB, dir string, o *pebble.Options) *pebble.DB {
	loaded := make(chan struct{})
	o.EventListener = &pebble.EventListener{
		TableStatsLoaded: func(pebble.TableStatsInfo) { close(loaded) },
	}
	db := open(t, dir, o)
	<-loaded
	return db
}

// put writes keys and flushes them to tables.
func put(t testing.TB, db *pebble.DB, keys [][]byte) {
	for _, key := range keys {
		require.NoError(t, db.Set(key, value(key), pebble.NoSync))
	}
	require.NoError(t, db.Flush())
}

// compactAll merges all tables that overlap.
func compactAll(db *pebble.DB) error {
	return compactRange(db, []byte{0}, bytes.Repeat([]byte{0xff}, 100))
}

func compact(t testing.TB, db *pebble.DB) { require.NoError(t, compactAll(db)) }

// quiet keeps Pebble's reports out of the tests' output.
type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// nextPrefix appends the prefix of 8 bytes that comes after prefix, which is not the last.
func nextPrefix(dst, prefix []byte) []byte {
	dst = append(dst, prefix...)
	if len(prefix) < 8 {
		return append(dst, 0)
	}
	for i := len(dst) - 1; ; i-- {
		dst[i]++
		if dst[i] != 0 {
			return dst
		}
	}
}

// ribbon returns a ribbon policy of that name.
func ribbon(t testing.TB, bitsPerKey float64) *policy.Policy {
	p, err := policy.NewRibbon(bitsPerKey, policy.WithName("ribbon"), policy.WithCounters())
	require.NoError(t, err)
	return p
}

// A fileRead is a read of a file.
type fileRead struct {
	file   string // its name in its directory
	offset int64
	size   int
}

// reading returns fs, which calls read before each read of a file that it opened. If read returns
// an error, that fails.
func reading(fs vfs.FS, read func(fileRead) error) vfs.FS { return readFS{fs, read} }

type readFS struct {
	vfs.FS
	read func(fileRead) error
}

func (r readFS) Open(path string, opts ...vfs.OpenOption) (vfs.File, error) {
	file, err := r.FS.Open(path, opts...)
	if err != nil {
		return nil, err
	}
	return readFile{file, r.PathBase(path), r.read}, nil
}

type readFile struct {
	vfs.File
	name string
	read func(fileRead) error
}

func (r readFile) ReadAt(p []byte, offset int64) (int, error) {
	if err := r.read(fileRead{r.name, offset, len(p)}); err != nil {
		return 0, err
	}
	return r.File.ReadAt(p, offset)
}
