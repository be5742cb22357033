package scan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage"
	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// verifyOne verifies one table.
func verifyOne(t testing.TB, path string, o tables.Options) *Result {
	results, err := Verify(context.Background(), []File{{path, path, o}}, nil)
	require.NoError(t, err)
	return results[0]
}

// The tables of other programs and of former releases are sound. Those of C++ LevelDB have what
// their sidecars say.
func TestGoldenTables(t *testing.T) {
	var files []File
	for _, pattern := range []string{"leveldb/tables/*/*.ldb", "goleveldb/*/*.ldb",
		"releases/*/*/*/*/*.ldb", "releases/*/*/*/*/*.sst"} {
		found, err := filepath.Glob("../../../../testdata/" + pattern)
		require.NoError(t, err)
		for _, path := range found {
			o := tables.Options{Policies: []string{"golden.*"}}
			files = append(files, File{path, path, o})
		}
	}
	results, err := Verify(context.Background(), files, nil)
	require.NoError(t, err)
	counts, byPath := map[Status]int{}, map[string]*Result{}
	for _, r := range results {
		counts[r.Status]++
		byPath[r.Path] = r
		require.True(t, r.Status == NoFilter || r.Status == Sound, "%s: %s", r.Path, r.Reason)
		require.True(t, r.Filters == nil || r.Each == nil, "results must not keep the filters")
	}
	require.Equal(t, map[Status]int{Sound: 84, NoFilter: 4}, counts)

	sidecars, err := filepath.Glob("../../../../testdata/leveldb/tables/*.json")
	require.NoError(t, err)
	require.Len(t, sidecars, 14)
	for _, sidecar := range sidecars {
		var want struct {
			Policy string `json:"filter_policy"`
			Tables []struct {
				File    string
				Entries int64
			}
		}
		text, err := os.ReadFile(sidecar)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &want))
		for _, table := range want.Tables {
			r := byPath[filepath.Join(strings.TrimSuffix(sidecar, ".json"), table.File)]
			require.Equal(t, table.Entries, r.Entries, r.Path)
			if r.Filters != nil {
				require.Equal(t, []any{want.Policy, "window", 11},
					[]any{r.Policy, r.Layout, r.BaseLg})
			}
		}
	}
}

// The results are in the order of the paths.
func TestVerifyConcurrently(t *testing.T) {
	files := make([]File, 50+runtime.GOMAXPROCS(0)) // more than begin at once
	for i := range files {
		files[i] = File{Path: fmt.Sprint(i), Open: filepath.Join("nowhere", fmt.Sprint(i))}
	}
	const noFile = "no such file or directory"
	var done atomic.Int64
	ctx, cancel := context.WithCancel(context.Background())
	results, err := Verify(ctx, files, func() { done.Add(1) })
	require.NoError(t, err)
	require.EqualValues(t, len(files), done.Load())
	for i, r := range results {
		require.Equal(t, &Result{Path: files[i].Path, Status: Missing, Reason: noFile}, r)
	}
	results, err = Verify(ctx, files, cancel)
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, results[len(files)-1])
}

// writePebble has Pebble write a table with a filter, under a comparer's name.
func writePebble(t testing.TB, format pebblesst.TableFormat, comparer string) []byte {
	c := *pebble.DefaultComparer
	c.Name = comparer
	var file objstorage.MemObj
	w := pebblesst.NewWriter(&file, pebblesst.WriterOptions{TableFormat: format, Comparer: &c,
		FilterPolicy: pebblev2.New(testkit.Must(policy.NewBloom(10)))})
	for i := range 50 {
		require.NoError(t, w.Set(fmt.Appendf(nil, "key%03d", i), make([]byte, 20)))
	}
	require.NoError(t, w.Close())
	return file.Data()
}

// writeLevelDB has goleveldb write a table of some keys with a key of the index that may be wrong.
func writeLevelDB(t testing.TB, indexKey string) []byte {
	var b bytes.Buffer
	o := &opt.Options{Comparer: separator{comparer.DefaultComparer, indexKey}}
	w := table.NewWriter(&b, o, nil, 0)
	for _, key := range []string{"b", "c"} {
		require.NoError(t, w.Append([]byte(key), nil))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// separator is a comparer with a key for the index.
type separator struct {
	comparer.Comparer
	key string
}

func (s separator) Successor(dst, _ []byte) []byte { return append(dst, s.key...) }

// Each table has a status, and a reason that says neither the path nor the status again.
func TestStatus(t *testing.T) {
	bytewise := pebble.DefaultComparer.Name
	old, columns := pebblesst.TableFormatRocksDBv2, pebblesst.TableFormatMax
	rotten, rottenPebble := writeLevelDB(t, "d"), writePebble(t, columns, bytewise)
	rotten[3] ^= 1
	rottenPebble[3] ^= 1
	crash := writePebble(t, old, bytewise)
	index := pebbleBlocks(t, crash)[0]
	crash[index.Offset] = 1 // the first key shares a byte with the one before
	mendChecksum(crash, index)
	unreadable := writePebble(t, old, bytewise)
	data := pebbleBlocks(t, unreadable)[1]
	unreadable[data.Offset+data.Length] = 4 // lz4, in RocksDB
	mendChecksum(unreadable, data)
	none, database := tables.Options{}, tables.Options{Database: true}
	const order = "its index is not in bytewise order: it is damaged, or its database has a "
	for _, c := range []struct {
		contents []byte
		name     string
		o        tables.Options
		status   Status
		reason   string
	}{
		{writePebble(t, old, bytewise), "any name", none, Sound, ""},
		{writePebble(t, columns, bytewise), "1.sst", none, Sound, ""},
		{writeLevelDB(t, "d"), "1.ldb", none, NoFilter, ""},
		{writePebble(t, columns, "mine"), "1.sst", none, Unverified,
			"the key schema DefaultKeySchema(mine,16) is not known here"},
		{writeLevelDB(t, "a"), "1.ldb", none, Unverified, order},
		{writeLevelDB(t, "a"), "1.ldb", database, Corrupt, "at offset "},
		{rotten, "1.ldb", none, Corrupt, "at offset 0: "},
		{rottenPebble, "1.sst", none, Corrupt,
			"the block at offset 0 does not match its checksum"},
		{unreadable, "1.sst", none, Unreadable, "not read here: a compression that Pebble"},
		{recovered(t), "1.ldb", none, Unverified, "its keys are internal by the data, and not by"},
		{recovered(t), "1.ldb", database, Corrupt, "at offset "},
		{basho(t), "1.sst", none, Unverified, "its filters are those of Basho's LevelDB"},
		{crash, "1.sst", none, Corrupt, "the engine's reader crashed: first key"},
		{nil, "1.LDB", none, Corrupt, "not a table: its 0 bytes do not end in a magic number"},
		{[]byte("text\n"), "1.txt", none, Unreadable, "not a table: its 5 bytes do"},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		require.NoError(t, os.WriteFile(path, c.contents, 0o600))
		r := verifyOne(t, path, c.o)
		require.Equal(t, c.status, r.Status, r.Reason)
		require.True(t, strings.HasPrefix(r.Reason, c.reason), r.Reason)
		require.Equal(t, c.reason == "", r.Reason == "")
	}
	dir := t.TempDir()
	require.Equal(t, &Result{Path: dir, Status: Unreadable, Reason: "not a regular file"},
		verifyOne(t, dir, none))
}

// What the readers do not read, says nothing against a table.
func TestFailed(t *testing.T) {
	for _, c := range []struct {
		err    error
		status Status
		reason string
	}{
		{&fs.PathError{Path: "p", Err: fs.ErrPermission}, Unreadable, "permission denied"},
		{&sstable.FormatError{File: "p", Format: "RocksDB"}, Unreadable,
			"a table in RocksDB format, not in LevelDB's"},
		{&sstable.CorruptionError{Offset: 7, Cause: sstable.ErrTooLarge}, Unreadable,
			"at offset 7: a block that is too large"},
		{&sstable.CorruptionError{Offset: -1, Cause: sstable.ErrCompression}, Unreadable,
			"unknown compression"},
		{&sstable.CorruptionError{Offset: -1, Cause: tables.ErrUnsupported}, Unreadable,
			"not read here"},
		{tables.ErrCrashed, Corrupt, "the engine's reader crashed"},
		{errors.New(strings.Repeat("x", 2000)), Unreadable, strings.Repeat("x", 1000)},
	} {
		require.Equal(t, &Result{Path: "p", Status: c.status, Reason: c.reason},
			File{Path: "p", Open: "p"}.failed(c.err))
	}
}
