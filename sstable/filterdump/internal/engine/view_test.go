package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/cockroachdb/pebble"
	v2 "github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verdict"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// All stored databases are opened by their engine, and those without an OPTIONS file too.
func TestEngines(t *testing.T) {
	for dir, want := range map[string]string{
		stored[0]: "goleveldb", stored[1]: "goleveldb", stored[2]: "goleveldb",
		stored[3]: "pebblev1", stored[4]: "pebblev2",
	} {
		v := view(t, filepath.Join("../../../../testdata", dir))
		require.Equal(t, want, v.Engine, dir)
		names := []string{policy.NameLevelDB} // Has of Pebble v1 needs one
		db, err := Open(Options{View: v, Names: names}, func(int) {})
		require.NoError(t, err)
		var last []byte
		require.NoError(t, db.Keys(func(key []byte) {
			require.Greater(t, string(key), string(last))
			last = append(last[:0], key...)
		}))
		for _, get := range []func([]byte) (bool, error){db.Get, db.Has} {
			found, err := get(last)
			require.NoError(t, err)
			require.True(t, found)
			found, err = get(append(last, 0))
			require.NoError(t, err)
			require.False(t, found)
		}
		for _, mib := range []uint64{3, 9} {
			cache, files, err := db.Memory(mib << 20)
			require.NoError(t, err)
			required := 2 * mib
			if want != "goleveldb" {
				required = 9 // with 8 for memtables
			}
			require.Equal(t, verdict.Setting{Has: 8 << 20, Required: required << 20}, cache, "no OPTIONS")
			require.False(t, files.Lacks())
		}
		require.NoError(t, db.Close())
	}
}

// The settings are those of the program that opened the database last.
func TestSettings(t *testing.T) {
	dir := t.TempDir()
	o := &v1.Options{Cache: v1.NewCache(3 << 20), FormatMajorVersion: v1.FormatNewest,
		Logger: Quiet{}}
	defer o.Cache.Unref()
	old, err := v1.Open(dir, o)
	require.NoError(t, err)
	require.NoError(t, old.Close())
	want := Settings{Engine: "pebblev1", Cache: 3 << 20, MemTable: 4 << 20, MemTables: 2,
		OpenFiles: 1000, Merger: "pebble.concatenate", Policies: []string{"none"}}
	require.Equal(t, want, view(t, dir).Settings)
	newer, err := v2.Open(dir,
		&v2.Options{CacheSize: 7 << 20, MaxOpenFiles: 2000, MemTableStopWritesThreshold: 5,
			Logger: Quiet{}})
	require.NoError(t, err)
	require.NoError(t, newer.Close())
	want.Engine, want.Cache, want.OpenFiles, want.MemTables = "pebblev2", 7<<20, 2000, 5
	require.Equal(t, want, view(t, dir).Settings)

	// Pebble would look for its log in another directory.
	other := t.TempDir()
	apart, err := v2.Open(other, &v2.Options{WALDir: t.TempDir(), Logger: Quiet{}})
	require.NoError(t, err)
	require.NoError(t, apart.Close())
	require.Empty(t, tablesOf(t, view(t, other)))

	// Among several files, the newest has the highest number.
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("OPTIONS-000001", "pebble_version=0.1\n")
	require.Equal(t, want, view(t, dir).Settings)
	write("OPTIONS-000900.orig", "cache_size=5\n")
	require.Equal(t, want, view(t, dir).Settings, "a copy by hand")
	write("OPTIONS-1000000", "pebble_version=0.1\n  cache_size=5\n")
	require.Equal(t, Settings{Engine: "pebblev1", Cache: 5, MemTables: 2}, view(t, dir).Settings)

	// Numbers out of range are no figures.
	for _, text := range []string{"-1", "9223372036854775808", "1099511627777", "1e9", ""} {
		require.Zero(t, sizeOf("\n  cache_size="+text+"\n", "cache_size"), text)
	}
}

// The manifest is the one that the engine finds. A CURRENT or manifest that is there and names
// nothing, or is no file, is damage; where there is none, there is no database.
func TestManifestOf(t *testing.T) {
	const good, other, marker = "MANIFEST-000002\n", "MANIFEST-000003", "marker.manifest.00000"
	const table = "000005.ldb"
	type files = map[string]string // a name that ends in a slash is a directory
	for _, c := range []struct {
		files files
		want  string // of the manifest; "": an error
		err   error  // which it is, if not any
		words string
	}{
		{files{"CURRENT": good, "MANIFEST-000002": ""}, "MANIFEST-000002", nil, ""},
		{files{marker + "1.MANIFEST-000002": "", marker + "2." + other: "", "CURRENT": good,
			"MANIFEST-000002": "", other: ""}, other, nil, ""},

		{files{"CURRENT.bak": good, "MANIFEST-000002": ""}, "MANIFEST-000002", nil, ""},
		{files{"CURRENT": good, "CURRENT.3": other + "\n", "MANIFEST-000002": "", other: ""}, other,
			nil, ""},
		{files{"CURRENT": other + "\n", "CURRENT.2": good, "MANIFEST-000002": "", other: ""}, other,
			nil, ""},
		{files{"CURRENT": "\x00\xff", "CURRENT.bak": good, "MANIFEST-000002": ""},
			"MANIFEST-000002", nil, ""},
		{files{"CURRENT": "MANIFEST-1000000\n", "CURRENT.bak": "MANIFEST-999999\n",
			"MANIFEST-1000000": "", "MANIFEST-999999": ""}, "MANIFEST-1000000", nil, ""},

		{files{"CURRENT": "", "CURRENT.bak": good, table: ""}, "", ErrDamaged, "CURRENT does not end in"},
		{files{"CURRENTLY": good, table: ""}, "", nil, "there is no CURRENT"},
		{files{"MANIFEST-000002": ""}, "", nil, "no database: there is no CURRENT"},
		{files{"MANIFEST-000002": "", table: ""}, "", ErrDamaged, "--verify DIRECTORY/*.ldb"},
		{files{"MANIFEST-000002": "", "000005.sst": ""}, "", ErrDamaged, " DIRECTORY/*.sst"},
		{files{"CURRENT": "a text\n", "notes.txt": ""}, "", nil, "no database: there are no tables"},
		{files{"CURRENT": good, "MANIFEST-000002": "", "sst_3/": ""}, "", nil,
			"Basho's LevelDB is not read here: pass the tables in sst_3"},

		{files{"CURRENT": "MANIFEST-000002", "MANIFEST-000002": ""}, "", ErrDamaged,
			"CURRENT does not end in a line break"},
		{files{"CURRENT": "<<<<<<< HEAD\n", table: ""}, "", ErrDamaged,
			`CURRENT names no manifest, but "<<<<<<< HEAD"`},
		{files{"CURRENT": "../MANIFEST-000002\n", table: ""}, "", ErrDamaged, "names no manifest"},
		{files{"CURRENT": good}, "", ErrDamaged, "CURRENT names MANIFEST-000002: file does not exist"},
		{files{"CURRENT": good, "MANIFEST-000002": "", marker + "1." + other: ""}, "", ErrDamaged,
			"names MANIFEST-000003"},
		{files{marker + "1...": ""}, "", ErrDamaged, "names no manifest"},
		{files{"CURRENT/": "", table: ""}, "", ErrDamaged, "not a regular file"},
		{files{"CURRENT": good, "MANIFEST-000002/": ""}, "", ErrDamaged, "not a regular file"},
	} {
		dir := t.TempDir()
		for name, contents := range c.files {
			if path := filepath.Join(dir, name); strings.HasSuffix(name, "/") {
				require.NoError(t, os.Mkdir(path, 0o700))
			} else {
				require.NoError(t, os.WriteFile(path, []byte(contents), 0o600))
			}
		}
		v, err := NewView(dir)
		require.Equal(t, c.err != nil, errors.Is(err, ErrDamaged))
		if c.words == "" {
			require.NoError(t, err)
			require.Equal(t, c.want, v.manifest)
			v.Close()
		} else {
			require.ErrorContains(t, err, c.words)
		}
	}
}

// CURRENT is read as goleveldb reads it: the line end may be that of Windows, spaces may follow,
// and zeros may be left out.
func TestCurrent(t *testing.T) {
	dir, rng := t.TempDir(), testkit.Rand(t, 77)
	for _, name := range []string{"MANIFEST-000002", "MANIFEST-000020", "000005.ldb"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	texts := []string{"MANIFEST-000002\r\n", "MANIFEST-000002 \n", "MANIFEST-2\n", "MANIFEST-20\n\n"}
	for range 1000 { // with a byte or two changed, mostly behind the name
		text := []byte("MANIFEST-000020  \n")
		for range 1 + rng.Intn(2) {
			at := len(text) - 1 - min(len(text)-1, rng.Intn(5)*(1+rng.Intn(4)))
			text[at] = "\r\n\t 029-+x.\x00"[rng.Intn(12)]
		}
		texts = append(texts, string(text))
	}
	read := 0
	for i, text := range texts {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "CURRENT"), []byte(text), 0o600))
		files, err := storage.OpenFile(dir, true)
		require.NoError(t, err)
		want, err := files.GetMeta()
		require.NoError(t, files.Close())
		name, failed := manifestOf(dir)
		require.Equal(t, err == nil, failed == nil, "%q: %v, %v", text, err, failed)
		if err == nil {
			require.Equal(t, fmt.Sprintf("MANIFEST-%06d", want.Num), name, "%q", text)
			read++
		}
		require.True(t, i >= 4 || err == nil, text)
	}
	require.Greater(t, read, 50)
}

// largeValues makes a database of Pebble's whose values are in files of their own.
func largeValues(t *testing.T) string {
	dir, o := t.TempDir(), &v2.Options{FormatMajorVersion: v2.FormatNewest, Logger: Quiet{}}
	o.Experimental.ValueSeparationPolicy = func() v2.ValueSeparationPolicy {
		return v2.ValueSeparationPolicy{Enabled: true, MinimumSize: 100, MaxBlobReferenceDepth: 5}
	}
	db, err := v2.Open(dir, o)
	require.NoError(t, err)
	for i := range 100 {
		require.NoError(t, db.Set(fmt.Appendf(nil, "%03d", i), make([]byte, 1000), v2.NoSync))
	}
	require.NoError(t, db.Flush())
	require.NoError(t, db.Close())
	blobs, err := filepath.Glob(filepath.Join(dir, "*.blob"))
	require.NoError(t, err)
	require.NotEmpty(t, blobs)
	return dir
}

// A view has the tables that the database deletes meanwhile, where the system allows that, and
// large values. Opening it changes it in nothing, and closing it leaves no file open.
func TestViewIsKept(t *testing.T) {
	dirs := []string{largeValues(t)}
	for _, dir := range stored {
		dirs = append(dirs, t.TempDir())
		require.NoError(t, os.CopyFS(dirs[len(dirs)-1], os.DirFS("../../../../testdata/"+dir)))
	}
	for _, dir := range dirs {
		open := openFiles(t)
		v, err := NewView(dir)
		require.NoError(t, err)
		manifest := bytes.Clone(v.Manifest)
		want := tablesOf(t, v)
		require.NotEmpty(t, want)
		if runtime.GOOS == "linux" {
			require.NoError(t, os.RemoveAll(dir))
		}
		require.Equal(t, want, tablesOf(t, v))
		require.Equal(t, manifest, v.Manifest)
		v.Close()
		require.LessOrEqual(t, openFiles(t), open)
	}
}

// openFiles returns how many files this process has open, where the system tells.
func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	return len(entries)
}

func TestNumber(t *testing.T) {
	for path, want := range map[string]int{"dir.sst/000012.ldb": 12, "000007.sst": 7,
		"1234567.sst": 1234567, "000012.log": -1, "CURRENT": -1, "7.sst": -1, "0000007.sst": -1,
		"+00005.sst": -1, "-00005.sst": -1, ".sst": -1, "99999999999999999999.ldb": -1,
		"000007.SST": -1} {
		require.Equal(t, want, Number(path), path)
	}
}
