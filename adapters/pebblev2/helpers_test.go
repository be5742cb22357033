package pebblev2_test

import (
	"bytes"
	"crypto/sha512"
	"errors"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	engine "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

var engineName = engine.FilterPolicy(10).Name()

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
	wait := loaded(o)
	db := open(t, dir, o)
	wait()
	return db
}

// loaded returns a function that does the waiting of openLoaded.
func loaded(o *pebble.Options) (wait func()) {
	loaded := make(chan struct{})
	var listener pebble.EventListener
	if o.EventListener != nil {
		listener = *o.EventListener
	}
	listener.TableStatsLoaded = func(pebble.TableStatsInfo) { close(loaded) }
	o.EventListener = &listener
	return func() { <-loaded }
}

// resting returns o without automatic compactions, so that tables stay in their levels.
func resting(o *pebble.Options) *pebble.Options {
	o.DisableAutomaticCompactions = true
	return o
}

// put writes keys and flushes them to tables.
func put(t testing.TB, db *pebble.DB, keys [][]byte) {
	for _, key := range keys {
		require.NoError(t, db.Set(key, value(key), pebble.NoSync))
	}
	require.NoError(t, db.Flush())
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

// splitVersion and the others below are the functions of a comparer for keys that may end in '@'
// and a version: of one prefix, the key without version comes first, then the newest. Versions may
// have zeros in front, so different bytes may be equal.
func splitVersion(key []byte) int {
	if i := bytes.IndexByte(key, '@'); i >= 0 {
		return i
	}
	return len(key)
}

func compareVersionedKeys(a, b []byte) int {
	i, j := splitVersion(a), splitVersion(b)
	if c := bytes.Compare(a[:i], b[:j]); c != 0 {
		return c
	}
	return compareVersions(a[i:], b[j:])
}

// compareVersions returns -1, 0 or 1. Iterators of Pebble may hang if it is another number.
func compareVersions(a, b []byte) int {
	number := func(suffix []byte) string {
		return string(bytes.TrimLeft(bytes.TrimPrefix(suffix, []byte("@")), "0"))
	}
	if len(a) == 0 || len(b) == 0 {
		return len(number(a)) - len(number(b)) // all versions have one digit
	}
	return bytes.Compare([]byte(number(b)), []byte(number(a)))
}

func abbreviatePrefix(key []byte) uint64 {
	return pebble.DefaultComparer.AbbreviatedKey(key[:splitVersion(key)])
}

// ribbon returns a ribbon policy of that name.
func ribbon(t testing.TB, bitsPerKey float64) *policy.Policy {
	p, err := policy.NewRibbon(bitsPerKey, policy.WithName("ribbon"), policy.WithCounters())
	require.NoError(t, err)
	return p
}

// lookUps are the ways to look a key up.
var lookUps = map[string]func(r pebble.Reader, key []byte) (bool, error){
	"Get": func(r pebble.Reader, key []byte) (bool, error) {
		_, closer, err := pebblev2.Get(r, key)
		switch err {
		case nil:
			return true, closer.Close()
		case pebble.ErrNotFound:
			err = nil
		}
		return false, err
	},
	"Has":        pebblev2.Has,
	"MayContain": pebblev2.MayContain,
	"HasMany": func(r pebble.Reader, key []byte) (bool, error) {
		found, err := pebblev2.HasMany(r, [][]byte{key})
		return err == nil && found[0], err
	},
}

// A fileRead is a read of a file.
type fileRead struct {
	file   string // its name in its directory
	offset int64
	size   int
}

// reading returns fs, which calls read before each read of a file that it opened. If read returns
// an error, that fails.
func reading(fs vfs.FS, read func(fileRead) error) vfs.FS { return &readFS{fs, read} }

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
