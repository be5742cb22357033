package verify

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

	"github.com/cockroachdb/pebble/v2"
	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/sstable/rowblk"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/opt"
	ldbtable "github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// writeFile writes a file into a new directory and returns its path.
func writeFile(t testing.TB, name string, contents []byte) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, contents, 0o600))
	return path
}

// verifyFile verifies a table by itself.
func verifyFile(t testing.TB, name string, contents []byte) *Result {
	path := writeFile(t, name, contents)
	return File{Path: path, Open: path}.verify()
}

// The results are in the order of the paths.
func TestVerifyConcurrently(t *testing.T) {
	files := make([]File, 50+runtime.GOMAXPROCS(0)) // more than begin at once
	for i := range files {
		files[i] = File{Path: fmt.Sprint(i), Open: filepath.Join("nowhere", fmt.Sprint(i))}
	}
	begun := 0
	results := Verify(files, func(i int) {
		require.Equal(t, begun, i)
		begun++
	})
	require.Len(t, files, begun)
	for i, r := range results {
		require.Equal(t, &Result{Path: files[i].Path, Status: Missing,
			Reason: "no such file or directory"}, r)
	}
}

// writeLevelDB has goleveldb write a table of n keys in blocks of 1 KiB.
func writeLevelDB(t testing.TB, o opt.Options, n int, suffix ...byte) []byte {
	o.BlockSize, o.Compression = 1<<10, opt.NoCompression
	var b bytes.Buffer
	w := ldbtable.NewWriter(&b, &o, nil, 0)
	for i := range n {
		require.NoError(t, w.Append(fmt.Appendf(nil, "key%05d%s", i, suffix), make([]byte, 20)))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// An indexKey is a comparer that writes it to the index.
type indexKey struct {
	comparer.Comparer
	key string
}

func (s indexKey) Successor(dst, _ []byte) []byte { return append(dst, s.key...) }

// withMeta returns a table as another program writes it: its metaindex, which is written anew at
// the end, names another block too.
func withMeta(t testing.TB, table []byte, name string) []byte {
	const footerLen = 48
	end := len(table) - footerLen
	footer := bytes.Clone(table[end:])
	old, n := block.DecodeHandle(footer)
	index, _ := block.DecodeHandle(footer[n:])
	_, handle, _ := bytes.Cut(table[old.Offset:], []byte("filter."+policy.NameLevelDB))
	_, n = block.DecodeHandle(handle)
	w := rowblk.Writer{RestartInterval: 1}
	require.NoError(t, w.AddRawString("filter."+policy.NameLevelDB, handle[:n]))
	require.NoError(t, w.AddRawString(name, handle[:n]))
	contents := w.Finish()
	metaindex := block.Handle{Offset: uint64(end), Length: uint64(len(contents))}
	table = append(append(table[:end], contents...), make([]byte, block.TrailerLen)...)
	mendChecksum(table, metaindex)
	index.EncodeVarints(footer[metaindex.EncodeVarints(footer):])
	return append(table, footer...)
}

// Each key has the filter of its block's window.
func TestLevelDB(t *testing.T) {
	for _, baseLg := range []int{9, 11, 20} {
		p := testkit.Must(policy.NewBloom(10, policy.WithName("mine")))
		o := opt.Options{Filter: goleveldb.New(p), FilterBaseLg: baseLg}
		contents, r := writeLevelDB(t, o, 500), &Result{}
		file, err := openFile(writeFile(t, "1.ldb", contents), 0)
		require.NoError(t, err)
		table, err := File{}.open(file, r)
		require.NoError(t, err)
		f := table.filters
		size, last := 0, uint64(0)
		for _, filter := range f.each {
			size += len(filter)
		}
		require.Equal(t, &Result{Policy: "mine", Size: int64(len(contents)), IndexBytes: r.IndexBytes,
			FilterBytes: int64(size + 4*len(f.each) + 5)}, r)
		require.Positive(t, r.IndexBytes)
		require.True(t, f.guessed && !f.once)
		require.NoError(t, table.keys(func(filter uint64, key []byte) {
			require.True(t, policy.MayContain(f.each[filter], key))
			last = filter
		}))
		require.Len(t, f.each, int(last)+1)
		require.NoError(t, file.Close())
	}
}

// Each table has a status, and a reason that says neither the path nor the status again.
func TestStatus(t *testing.T) {
	ours := opt.Options{Filter: goleveldb.New(testkit.Must(policy.NewBloom(10)))}
	// As leveldb.RecoverFile writes it: filters of internal keys, and an index key that is too short.
	recovered := ours
	recovered.Comparer = indexKey{comparer.DefaultComparer, "z"}
	disordered := writeLevelDB(t, opt.Options{Comparer: indexKey{comparer.DefaultComparer, "a"}}, 2)
	rotten, lost := writeLevelDB(t, opt.Options{}, 2), writeLevelDB(t, ours, 1)
	rotten[3] ^= 1
	lost[bytes.Index(lost, []byte("filter."))-12] ^= 1 // the block before its name
	old, columns := pebblesst.TableFormatRocksDBv2, pebblesst.TableFormatMax
	pebbles := writePebble(t, columns, ownFilter, 50, false)
	rottenPebble := bytes.Clone(pebbles)
	rottenPebble[3] ^= 1
	crash := writePebble(t, old, ownFilter, 50, false)
	index := pebbleBlocks(t, crash)[0]
	crash[index.Offset] = 1 // the first key shares a byte with the one before
	mendChecksum(crash, index)
	mine := *pebble.DefaultComparer
	mine.Name = "mine"
	other := pebblesst.WriterOptions{Comparer: &mine, MergerName: "test.merger"}
	for _, c := range []struct {
		contents []byte
		name     string
		database bool
		status   Status
		reason   string
	}{
		{pebbles, "1.sst", false, Sound, ""},
		{writeLevelDB(t, ours, 9), "any name", false, Sound, ""},
		{writeLevelDB(t, opt.Options{}, 9), "1.ldb", false, NoFilter, ""},
		{writePebble(t, columns, other, 0, false), "1.sst", false, Unreadable,
			"not read here: unknown key schema DefaultKeySchema(mine,16)"},
		{writePebble(t, old, other, 0, false), "1.sst", false, Unreadable,
			"not read here: unknown comparer mine"},
		{disordered, "1.ldb", false, Unverified, "its index is not in bytewise order: "},
		{disordered, "1.ldb", true, Corrupt, "at offset "},
		{writeLevelDB(t, recovered, 9, 1, 1, 0, 0, 0, 0, 0, 0), "1.ldb", false, Unverified,
			"its keys are internal by the data, and not by the index"},
		{writeLevelDB(t, recovered, 9, 1, 1, 0, 0, 0, 0, 0, 0), "1.ldb", true, Corrupt, "at offset "},
		{withMeta(t, writeLevelDB(t, ours, 9), "stats.sst1"), "1.sst", false, Unverified,
			"its filters are those of Basho's LevelDB"},
		{rotten, "1.ldb", false, Corrupt, "at offset 0: "},
		{lost, "1.ldb", false, Corrupt, "at offset "},
		{rottenPebble, "1.sst", false, Corrupt, "the block at offset 0 does not match its checksum"},
		{crash, "1.sst", false, Corrupt, "the engine's reader crashed: first key"},
		{nil, "1.LDB", false, Corrupt, "not a table: its 0 bytes do not end in a magic number"},
		{[]byte("text\n"), "1.txt", false, Unreadable, "not a table: its 5 bytes do"},
	} {
		path := writeFile(t, c.name, c.contents)
		r := File{Path: path, Open: path, Database: c.database}.verify()
		require.Equal(t, c.status, r.Status, r.Reason)
		require.True(t, strings.HasPrefix(r.Reason, c.reason), r.Reason)
		require.Equal(t, c.reason == "", r.Reason == "")
	}
	dir := t.TempDir()
	require.Equal(t, &Result{Path: dir, Status: Unreadable, Reason: "not a regular file"},
		File{Path: dir, Open: dir}.verify())
}

// What the readers do not read says nothing against a table.
func TestFailed(t *testing.T) {
	for err, reason := range map[error]string{
		&fs.PathError{Path: "p", Err: fs.ErrPermission}: "permission denied",
		&sstable.FormatError{File: "p", Format: "RocksDB"}: "a table in RocksDB format, not in " +
			"LevelDB's",
		&sstable.CorruptionError{Offset: 7, Cause: sstable.ErrTooLarge}: "at offset 7: a block " +
			"that is too large",
		errors.New(strings.Repeat("x", 2000)): strings.Repeat("x", 1000),
	} {
		require.Equal(t, &Result{Path: "p", Status: Unreadable, Reason: reason},
			File{Path: "p", Open: "p"}.failed(err))
	}
}

// A table by itself ends where its file does. One of a database ends where the manifest says, and
// more may follow.
func TestSizes(t *testing.T) {
	for _, table := range [][]byte{
		writeLevelDB(t, opt.Options{Filter: goleveldb.New(testkit.Must(policy.NewBloom(10)))}, 1),
		writePebble(t, pebblesst.TableFormatMax, ownFilter, 0, false),
	} {
		n, longer := int64(len(table)), append(bytes.Clone(table), 0)
		for _, c := range []struct {
			file []byte
			size int64
			want Status
		}{
			{table, n, Sound},
			{table, n + 1, Corrupt},
			{table, n - 1, Corrupt},
			{longer, n, Sound},
			{longer, 0, Unreadable}, // more may follow
			{append(longer[:n:n], table[:n-1]...), 2*n - 1, Corrupt},
			{table[:n-1], 0, Corrupt},
		} {
			path := writeFile(t, "1.ldb", c.file)
			r := File{Path: path, Open: path, Size: c.size}.verify()
			require.Equal(t, c.want, r.Status, r.Reason)
		}
	}
}
