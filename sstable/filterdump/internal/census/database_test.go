package census

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"testing"

	pebblev1 "github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/engine"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verify"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// thirds makes a goleveldb database of every third number up to 3n, and returns its directory.
func thirds(t *testing.T, n int, o opt.Options) string {
	var keys [][]byte
	for _, i := range seeded(t).Perm(n) {
		keys = append(keys, fmt.Appendf(nil, "%08d", 3*i))
	}
	return fill(t, &o, keys, func() []byte { return make([]byte, 100) })
}

// Of a small database all keys are taken, and all absent keys between them.
func TestAllAbsentKeys(t *testing.T) {
	const n = 6000
	dir := thirds(t, n, opt.Options{Filter: filter.NewBloomFilter(10)})
	d := counted(t, dir)
	require.Equal(t, "goleveldb", d.Engine)
	require.Equal(t, n-1, d.Sampled, "nothing follows the last key")
	require.Equal(t, 2*(n-1), d.Lookups)
	require.EqualValues(t, n, d.Keys)
	require.Equal(t, d.Bytes, d.Old)
	require.Len(t, d.Levels, 2)
	require.Equal(t, len(d.Tables), d.Levels[0].Tables+d.Levels[1].Tables)
}

// sequence is a database of even numbers.
type sequence struct {
	engine.DB
	n int
}

func (s sequence) Keys(f func(key []byte)) error {
	for i := range s.n {
		f(fmt.Appendf(nil, "%08d", 2*i))
	}
	return nil
}

// Of a large database a random sample of the keys is taken, each with the key that follows it.
func TestNeighborsAreASample(t *testing.T) {
	counts := [3]int{}
	keys, next, err := neighbors(sequence{n: 3 * maxLookups}, seeded(t), func(int) {})
	require.NoError(t, err)
	require.Len(t, keys, maxLookups)
	for i, key := range keys {
		var number, following int
		_, err := fmt.Sscanf(string(key)+" "+string(next[i]), "%d %d", &number, &following)
		require.NoError(t, err)
		require.Equal(t, number+2, following)
		counts[number/(2*maxLookups)]++
	}
	for _, n := range counts {
		require.InDelta(t, maxLookups/3, n, 5*200) // 5 standard deviations
	}
}

// pebbleOf makes a database of Pebble's, which stays open, and returns its directory.
func pebbleOf(t *testing.T, o pebble.Options, keys int, put func(db *pebble.DB, key []byte) error,
) (string, *pebble.DB) {
	dir := t.TempDir()
	o.Logger = engine.Quiet{}
	db, err := pebble.Open(dir, &o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for i := range keys {
		require.NoError(t, put(db, fmt.Appendf(nil, "%08d", 3*i)))
	}
	return dir, db
}

func set(db *pebble.DB, key []byte) error { return db.Set(key, make([]byte, 100), pebble.NoSync) }

// Of a virtual table only the keys in its bounds count, and its file once. A merger that is the
// program's own is no obstacle: nothing is merged.
func TestCountVirtualTables(t *testing.T) {
	const n = 9000
	merger := *pebble.DefaultMerger
	merger.Name = "test.merger"
	o := pebble.Options{FormatMajorVersion: pebble.FormatNewest, Merger: &merger}
	dir, db := pebbleOf(t, o, n,
		func(db *pebble.DB, key []byte) error { return db.Merge(key, []byte("1"), pebble.NoSync) })
	require.NoError(t, db.Flush())
	require.NoError(t, db.Compact(context.Background(), []byte("0"), []byte("9"), false))
	require.NoError(t, db.Excise(context.Background(), pebble.KeyRange{
		Start: fmt.Appendf(nil, "%08d", n), End: fmt.Appendf(nil, "%08d", 2*n)}))
	d := counted(t, dir)
	require.Equal(t, "pebblev2", d.Engine)
	require.Equal(t, n*2/3-1, d.Sampled)
	require.Equal(t, 2*(n*2/3-2)+64, d.Lookups, "the excised keys are one gap")
	require.EqualValues(t, n, d.Keys, "those of the file")
}

// A database with more tables than the process may have open is read all the same.
func TestFewFiles(t *testing.T) {
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
	few := before
	few.Cur = 200
	for _, stored := range []string{"leveldb/tables/multi_level",
		"releases/v0.1.0/pebblev1/name1_ribbon/db", "releases/v0.1.0/pebblev2/name1_ribbon/db"} {
		dir := copyOf(t, stored)
		for n := range 300 {
			name := fmt.Sprintf("%06d.sst", n) // of no table, but for one or two
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
			}
		}
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
		d := Read(dir, Options{Verify: true, Progress: t.Logf})
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before))
		require.Contains(t, d.Note, "tables newer than the ") // all that are no tables
		require.NotEmpty(t, d.Tables)
		for _, r := range d.Tables {
			require.Equal(t, verify.Sound, r.Status, r.Reason)
		}
	}
}

// A database may have half as many tables as the process may have files open, and some more.
func TestManyTables(t *testing.T) {
	dir := thirds(t, 6000, opt.Options{CompactionTableSize: 2 << 10,
		Compression: opt.NoCompression})
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
	quiet := Options{Progress: func(string, ...any) {}}
	d := Read(dir, quiet)
	require.Greater(t, len(d.Tables), 100)
	few := before
	few.Cur = uint64(2*len(d.Tables) + 50)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
	again := Read(dir, quiet)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before))
	require.Empty(t, again.Note)
	require.Equal(t, d.Verdict, again.Verdict)
}

// copyOf returns a copy of a stored database.
func copyOf(t *testing.T, path string) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../../../testdata/"+path)))
	return dir
}

// A table that is not there is missing, unless the database has changed meanwhile: then Read begins
// anew, a few times.
func TestTablesVanish(t *testing.T) {
	for _, c := range []struct {
		changes, lacking int // how often the manifest changes, and how often the table is not there
		note             string
		status           verify.Status
	}{
		{0, 1, "", verify.Missing},
		{1, 1, "", verify.Sound},
		{attempts, attempts, "its tables are deleted while they are read: ", ""},
	} {
		dir := copyOf(t, "leveldb/tables/one_key")
		table, hidden := filepath.Join(dir, "000005.ldb"), filepath.Join(dir, "hidden")
		require.NoError(t, os.Rename(table, hidden))
		manifest, n := filepath.Join(dir, "MANIFEST-000002"), 0
		d := Read(dir, Options{Verify: true, Progress: func(string, ...any) {
			if n++; n <= c.changes {
				b, err := os.ReadFile(manifest)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(manifest, append(b, 0), 0o600)) // as in writing
			}
			if n == c.lacking {
				require.NoError(t, os.Rename(hidden, table))
			}
		}})
		require.Equal(t, c.note == "", d.Note == "")
		require.Contains(t, d.Note, c.note)
		require.False(t, d.Damaged)
		if c.status != "" {
			require.Equal(t, c.status, d.Tables[0].Status)
		}
	}
}

// Tables that are newer than all named ones are those that a database in use is writing, if the
// manifest changes meanwhile. If not, a killed process may have left them, whose log is there then,
// or the manifest may have been cut off.
func TestNewerTables(t *testing.T) {
	for _, c := range []struct {
		inUse bool
		files []string
		sound bool
	}{
		{false, []string{"000100.ldb", "000101.ldb"}, false},
		{false, []string{"000100.ldb", "000101.log"}, false},
		{false, []string{"000100.ldb", "000099.log", "000101.log"}, true},
		{false, []string{"000100.ldb", "000099-001.log", "000101.log"}, true}, // Pebble's, failed over
		{true, []string{"000100.ldb", "000101.ldb", "000102.log"}, true},
	} {
		dir := copyOf(t, "leveldb/tables/one_key")
		for _, log := range testkit.Must(filepath.Glob(filepath.Join(dir, "*.log"))) {
			require.NoError(t, os.Remove(log))
		}
		for _, name := range c.files {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		}
		manifest := filepath.Join(dir, "MANIFEST-000002")
		d := Read(dir, Options{Verify: true, Progress: func(string, ...any) {
			if c.inUse {
				b := testkit.Must(os.ReadFile(manifest))
				require.NoError(t, os.WriteFile(manifest, append(b, 0), 0o600)) // as in writing
			}
		}})
		require.Equal(t, c.sound, d.Note == "", "%v: %s", c.files, d.Note)
	}
}

// All that takes long is told: what is done, and how much of it, which never becomes less, also
// where there are no absent keys.
func TestProgress(t *testing.T) {
	dir, db := pebbleOf(t, pebble.Options{}, 0, nil)
	for i := range 6000 {
		require.NoError(t, set(db, fmt.Appendf(nil, "%08d", i)))
		if i%2000 == 1999 {
			require.NoError(t, db.Flush())
		}
	}
	var told []string
	var last int64
	Read(dir, Options{Progress: func(format string, args ...any) {
		what := regexp.MustCompile(`%d of (at most )?%d`).ReplaceAllString(format, "")
		numbers := args[len(args)-2:]
		if what = fmt.Sprintf(what, args[:len(args)-2]...); !slices.Contains(told, what) {
			told, last = append(told, what), 0
		}
		var done, all int64
		_, err := fmt.Sscan(fmt.Sprint(numbers...), &done, &all)
		if err != nil || what != told[len(told)-1] || done < 1 || done < last || done > all {
			t.Errorf("%q %v after %d", format, args, last)
		}
		last = done
	}})
	require.Equal(t, []string{"verifying table ", "reading keys: ", "looking up keys by Get: ",
		"looking up keys by Has: ", "looking up keys without filters: "}, told)
}

// Pebble takes its memtables out of the block cache, as many as there may be: with its defaults,
// nothing is left, so tables that are smaller than the cache are no reason to do nothing.
func TestCacheWithoutMemtables(t *testing.T) {
	for cache, left := range map[int64]int64{12 << 20: 0, 6 << 20: 0, 50 << 20: 38 << 20} {
		dir, db := pebbleOf(t, pebble.Options{CacheSize: cache, MaxOpenFiles: 5,
			MemTableStopWritesThreshold: 3}, 1, set)
		require.NoError(t, db.Flush())
		d := counted(t, dir)
		require.Equal(t, left, d.Cache)
		require.EqualValues(t, cache, d.BlockCache.Has)
		require.Equal(t, cache < 13<<20, d.BlockCache.Lacks())
		require.False(t, d.OpenTables.Lacks(), "Pebble keeps some open, whatever the options say")
	}
}

// Filters that match all keys are used, whatever their name.
func TestOtherName(t *testing.T) {
	mine := testkit.Must(policy.NewRibbon(10, policy.WithName("mine")))
	require.Less(t, counted(t, thirds(t, 6000, opt.Options{Filter: goleveldb.New(mine)})).Get, 20.0)
}

// A database with a comparer of its own is no damage, whatever the engine calls it ("corrupted"):
// the report names the comparer. Of goleveldb's databases, the tables can be verified one by one.
func TestOwnComparer(t *testing.T) {
	dirs := map[string]string{"goleveldb": t.TempDir(), "pebblev1": t.TempDir(), "pebblev2": ""}
	db, err := leveldb.OpenFile(dirs["goleveldb"], &opt.Options{Comparer: mine{}})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	comparerV1 := *pebblev1.DefaultComparer
	comparerV1.Name = mine{}.Name()
	old, err := pebblev1.Open(dirs["pebblev1"], &pebblev1.Options{Comparer: &comparerV1,
		Logger: engine.Quiet{}})
	require.NoError(t, err)
	require.NoError(t, old.Set([]byte("key"), nil, pebblev1.NoSync))
	require.NoError(t, old.Flush()) // only tables tell Pebble's databases without OPTIONS
	require.NoError(t, old.Close())
	comparerV2 := *pebble.DefaultComparer
	comparerV2.Name = mine{}.Name()
	dirs["pebblev2"], _ = pebbleOf(t, pebble.Options{Comparer: &comparerV2}, 0, nil)
	for engine, dir := range dirs {
		want := "its comparer is 'test.mine', which is not known here"
		if engine == "goleveldb" {
			want += ": pass its tables one by one, filterdump --verify DIRECTORY/*.ldb"
		} else {
			want += ": print the report of " + engine + ".Check in the program"
		}
		options := testkit.Must(filepath.Glob(filepath.Join(dir, "OPTIONS-*")))
		require.Equal(t, engine == "goleveldb", len(options) == 0)
		for {
			d := Read(dir, Options{})
			require.Equal(t, want, d.Note, engine)
			require.False(t, d.Damaged)
			if len(options) == 0 {
				break
			}
			require.NoError(t, os.Remove(options[0])) // then the manifest tells
			options = options[1:]
		}
	}
}

// mine is a comparer by its name.
type mine struct{ comparer.Comparer }

func (mine) Name() string { return "test.mine" }
