package tables

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/cockroachdb/pebble"
	v2 "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
)

// manifest returns a manifest of these edits.
func manifest(t testing.TB, edits ...string) string {
	var b bytes.Buffer
	w := record.NewWriter(&b)
	for _, e := range edits {
		_, err := w.WriteRecord([]byte(e))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String()
}

// describe returns what a structure says of its tables, sorted: levels, files and, with bounds,
// these.
func describe(t testing.TB, dir string, bounds bool) (all []string) {
	s, err := ReadStructure(dir)
	require.NoError(t, err)
	for _, p := range s.Tables {
		number, _, _ := strings.Cut(filepath.Base(p.Path), ".")
		line := fmt.Sprintf("L%d %s", p.Level, strings.TrimLeft(number, "0"))
		if bounds {
			line += fmt.Sprintf(" %s-%s", p.Smallest, p.Largest)
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}

// What goleveldb says about an open database.
func TestStructureOfGoleveldb(t *testing.T) {
	dir := t.TempDir()
	o := &opt.Options{WriteBuffer: 32 << 10, CompactionTableSize: 32 << 10,
		CompactionTotalSize: 200 << 10}
	rng := policytest.Rand(t, 1)
	levels := map[string]bool{}
	for range 5 {
		o.ReadOnly = false
		db, err := leveldb.OpenFile(dir, o)
		require.NoError(t, err)
		for range 3000 {
			key := fmt.Appendf(nil, "key%08d", rng.Intn(1e8))
			require.NoError(t, db.Put(key, make([]byte, 100), nil))
		}
		require.NoError(t, db.Close())
		o.ReadOnly = true // it does not compact
		db, err = leveldb.OpenFile(dir, o)
		require.NoError(t, err)
		text, err := db.GetProperty("leveldb.sstables")
		require.NoError(t, err)
		var want []string
		level := ""
		for _, line := range strings.Split(text, "\n") {
			if rest, ok := strings.CutPrefix(line, "--- level "); ok {
				level = strings.TrimSuffix(rest, " ---")
			} else if number, _, ok := strings.Cut(line, ":"); ok {
				want = append(want, "L"+level+" "+number)
				levels[level] = true
			}
		}
		slices.Sort(want)
		require.Equal(t, want, describe(t, dir, false))
		require.NoError(t, db.Close())
	}
	require.Greater(t, len(levels), 1)
}

// What Pebble says about an open database, with virtual tables where it has them.
func TestStructureOfPebble(t *testing.T) {
	dir := t.TempDir()
	db, err := v2.Open(dir, &v2.Options{MemTableSize: 64 << 10, FormatMajorVersion: v2.FormatNewest,
		DisableAutomaticCompactions: true, Logger: quiet{}}) // they would go on while it is read
	require.NoError(t, err)
	defer db.Close()
	rng := policytest.Rand(t, 1)
	for i := range 5000 {
		key := fmt.Appendf(nil, "key%08d", rng.Intn(1e8))
		require.NoError(t, db.Set(key, make([]byte, 100), v2.NoSync))
		if i == 4000 {
			require.NoError(t, db.Compact(context.Background(), []byte("k"), []byte("l"), false))
		}
	}
	require.NoError(t, db.Flush())
	require.NoError(t, db.RangeKeySet([]byte("k"), []byte("l"), nil, nil, nil))
	require.NoError(t, db.Flush())
	check := func() (virtual, levels int) {
		infos, err := db.SSTables()
		require.NoError(t, err)
		var want []string
		for level, tables := range infos {
			for _, i := range tables {
				if i.Virtual {
					virtual++
				}
				if n := len("key00000000"); len(i.Smallest.UserKey) < n || len(i.Largest.UserKey) < n {
					continue // range keys alone
				}
				want = append(want, fmt.Sprintf("L%d %d %s-%s", level, i.BackingSSTNum,
					i.Smallest.UserKey, i.Largest.UserKey))
			}
			if len(tables) > 0 {
				levels++
			}
		}
		slices.Sort(want)
		require.Equal(t, want, describe(t, dir, true))
		return virtual, levels
	}
	_, levels := check()
	require.Greater(t, levels, 1)
	span := v2.KeyRange{Start: []byte("key3"), End: []byte("key4")}
	require.NoError(t, db.Excise(context.Background(), span))
	virtual, _ := check()
	require.Greater(t, virtual, 1)
}

func TestStructureOfPebbleV1(t *testing.T) {
	for _, version := range []v1.FormatMajorVersion{v1.FormatMostCompatible, v1.FormatNewest} {
		dir := t.TempDir()
		db, err := v1.Open(dir, &v1.Options{MemTableSize: 64 << 10, FormatMajorVersion: version,
			DisableAutomaticCompactions: true, Logger: quiet{}})
		require.NoError(t, err)
		rng := policytest.Rand(t, 1)
		for i := range 5000 {
			key := fmt.Appendf(nil, "key%08d", rng.Intn(1e8))
			require.NoError(t, db.Set(key, make([]byte, 100), v1.NoSync))
			if i == 4000 {
				require.NoError(t, db.Compact([]byte("k"), []byte("l"), false))
			}
		}
		require.NoError(t, db.Flush())
		infos, err := db.SSTables()
		require.NoError(t, err)
		var want []string
		for level, tables := range infos {
			for _, i := range tables {
				want = append(want, fmt.Sprintf("L%d %d %s-%s", level, i.FileNum,
					i.Smallest.UserKey, i.Largest.UserKey))
			}
		}
		slices.Sort(want)
		require.Equal(t, want, describe(t, dir, true))
		require.NoError(t, db.Close())
	}
}

// quiet is a logger of both Pebbles.
type quiet struct{}

func (quiet) Infof(string, ...any)         {}
func (quiet) Errorf(string, ...any)        {}
func (quiet) Fatalf(f string, args ...any) { panic(fmt.Sprintf(f, args...)) }

const (
	internalA = "\x09a\x01\x00\x00\x00\x00\x00\x00\x00"
	internalB = "\x09b\x01\x00\x00\x00\x00\x00\x00\x00"
)

// Edits of all kinds, and those that are malformed.
func TestEdits(t *testing.T) {
	write := func(edits string) string {
		dir := t.TempDir()
		for name, content := range map[string]string{
			"CURRENT": "MANIFEST-000002\n", "MANIFEST-000002": manifest(t, "\x01\x03abc", edits),
			"000007.ldb": "", "000008.sst": "", "999999.ldb": "",
		} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		}
		return dir
	}
	const bounds = internalA + internalB
	for _, c := range [][2]string{
		{"\x07\x02\x07\x50" + bounds, "L2 7 a-b"},
		{"\x07\x02\x07\x50" + bounds + "\x06\x02\x08", "L2 7 a-b"},
		{"\x07\x03\x07\x50" + bounds + "\x06\x02\x07", "L3 7 a-b"}, // moved
		{"\x05\x01\x03abc\x02\x09\x03\x09\x04\x09\x09\x01\x64\x00\x08\x50" + bounds +
			"\x01\x02", "L0 8 a-b"},
		{"\x66\x06\x08\x00\x50" + bounds + "\x01\x02", "L6 8 a-b"},
		{"\x67\x06\x08\x50" + bounds + "\x01\x02\x06\x01\x00\x3f\x02xx\x01", "L6 8 a-b"},
		{"\x67\x06\x09\x50" +
			bounds + "\x01\x02\x42\x08\x01\x69\x08\x50\x6a\x05", "L6 8 a-b"}, // virtual
		{"\x67\x06\x08\x50" +
			bounds + "\x01\x02\x45\x01\x02\x03\x04\x05\x06\x01" +
			"\x6b\x01\x02\x03\x04\x05\x6c\x01\x02", "L6 8 a-b"},
		{"\x68\x06\x08\x50\x01" + bounds + "\x01x\x01y\x01\x02\x01", "L6 8 a-b"},
		{"\x68\x06\x08\x50\x00\x01x\x01y\x01\x02\x01", ""}, // range keys alone
	} {
		edits, want := c[0], c[1]
		require.Equal(t, want, strings.Join(describe(t, write(edits), true), "; "), "%x", edits)
		s, err := ReadStructure(write(edits))
		require.NoError(t, err)
		require.Equal(t, "abc", s.Comparer)
		require.Len(t, s.Unnamed, 2)      // besides the one that is named, even one of range keys alone
		for n := 1; n < len(edits); n++ { // cut anywhere: an error, or an edit less
			_, _ = ReadStructure(write(edits[:n]))
		}
	}
	for _, c := range [][2]string{
		{"\x08", "the tag 8, which is not known here"},
		{"\x07\x02\x07\x50" + internalA, "ends too early"},
		{"\x07\x02\x07\x50\x01a\x01b", "ends too early"},
		{"\x06\xff", "ends too early"},
		{"\x68\x06\x08\x50", "ends too early"},
		{"\x67\x06\x08\x50" + bounds + "\x01\x02\x43\x01a", "other prefixes or suffixes"},
		{"\x67\x06\x08\x50" + bounds + "\x01\x02\x41\x01a", "the tag 65, which"},
		{"\x67\x06\x08\x50" +
			bounds + "\x01\x02\x45\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "ends too early"},
	} {
		edits, want := c[0], c[1]
		_, err := ReadStructure(write(edits))
		require.ErrorContains(t, err, "MANIFEST-000002: ", "%x", edits)
		require.ErrorContains(t, err, want, "%x", edits)
	}
}

// A last record that is cut or damaged, as after a kill, ends the manifest. An earlier one is an
// error.
func TestCutManifest(t *testing.T) {
	whole := manifest(t, "\x01\x03abc", "\x07\x02\x07\x50"+internalA+internalB)
	dir := t.TempDir()
	write := func(content string) (int, error) {
		path := filepath.Join(dir, "MANIFEST-000002")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		s, err := ReadStructure(dir)
		if err != nil {
			return 0, err
		}
		return len(s.Tables), nil
	}
	_, err := ReadStructure(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "CURRENT"), []byte("MANIFEST-000002\n"), 0o600))
	first := len(manifest(t, "\x01\x03abc"))
	for n := first; n <= len(whole); n++ {
		got, err := write(whole[:n])
		require.NoError(t, err, n)
		require.Equal(t, n == len(whole), got == 1, n)
	}
	for i := range whole {
		damaged := []byte(whole)
		damaged[i] ^= 1
		_, err := write(string(damaged))
		require.Equal(t, i < first, err != nil, i)
	}
}
