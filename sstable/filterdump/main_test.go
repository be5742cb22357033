package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// golden is where the databases are that other programs wrote.
func golden(path ...string) string {
	return filepath.Join(append([]string{"..", "..", "testdata"}, path...)...)
}

// filterdump runs the program.
func filterdump(t *testing.T, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(args, &out, &err)
	return status, out.String(), err.String()
}

// copyOf copies a golden database.
func copyOf(t *testing.T, path ...string) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(golden(path...))))
	return dir
}

// The databases of other programs and of former releases are sound, and tables without one.
func TestGoldenDatabases(t *testing.T) {
	args := []string{"--verify"}
	for _, pattern := range []string{"leveldb/tables/*/CURRENT", "goleveldb/*/CURRENT",
		"releases/*/*/*/db", "leveldb/tables/raw_tablebuilder/*.ldb"} {
		found, err := filepath.Glob(golden(pattern))
		require.NoError(t, err)
		for _, path := range found {
			args = append(args, strings.TrimSuffix(path, "CURRENT"))
		}
	}
	status, out, stderr := filterdump(t, args...)
	require.Equal(t, exitSound, status, out+stderr)
	require.Contains(t, out, "84 tables sound; 4 tables without filters")
}

// The report tells the status, and each kind of fault has its exit status.
func TestStatus(t *testing.T) {
	one := golden("leveldb", "tables", "one_key", "000005.ldb")
	whole, err := os.ReadFile(one)
	require.NoError(t, err)
	oneKey := func() string { return copyOf(t, "leveldb", "tables", "one_key") }
	mixed := func() string { return copyOf(t, "leveldb", "tables", "mixed_bits") }
	ours := func(engine string) string {
		return copyOf(t, "releases", "v0.1.0", engine, "name1_ribbon", "db")
	}
	made := func(engine string) string {
		dir := t.TempDir()
		s, err := openers[engine](dir, testkit.Must(policy.NewRibbon(10)), still)
		require.NoError(t, err)
		require.NoError(t, s.put([]byte("key"), nil))
		require.NoError(t, s.flush())
		require.NoError(t, s.close())
		return dir
	}
	// These change a directory.
	with := func(dir string, contents []byte, names ...string) string {
		for _, name := range names {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), contents, 0o600))
		}
		return dir
	}
	without := func(dir string, names ...string) string {
		for _, name := range names {
			require.NoError(t, os.Remove(filepath.Join(dir, name)))
		}
		return dir
	}
	sized := func(dir, pattern string, size int64) string { // cut off, or with a hole behind
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		require.Len(t, paths, 1)
		require.NoError(t, os.Truncate(paths[0], size))
		return dir
	}
	torn := func(engine string) string { // what names the table is not all there
		dir := made(engine)
		manifests, err := filepath.Glob(filepath.Join(dir, "MANIFEST-*"))
		require.NoError(t, err)
		info, err := os.Stat(manifests[0])
		require.NoError(t, err)
		return sized(dir, "MANIFEST-*", info.Size()-1)
	}
	loop := func(dir, name string) string {
		require.NoError(t, os.Symlink(name, filepath.Join(without(dir, name), name)))
		return dir
	}
	const manifest = "MANIFEST-000011"
	flipped, err := os.ReadFile(filepath.Join(ours("pebblev2"), manifest))
	require.NoError(t, err)
	flipped[9] ^= 1
	padded := with(oneKey(), append(bytes.Clone(whole), make([]byte, 4<<10)...), "000005.ldb")
	broken := with(oneKey(), append([]byte("xyz"), whole[3:]...), "000005.ldb") // in a data block
	short := with(t.TempDir(), whole[:len(whole)-1], "000005.ldb")
	empty := t.TempDir()
	db, err := leveldb.OpenFile(empty, nil)
	require.NoError(t, err)
	require.NoError(t, db.Close())

	for _, c := range []struct {
		path   string
		status int
		words  []string
	}{
		{one, 0, []string{"1 table sound\n", one}},
		{golden("leveldb", "tables", "no_filter"), 0, []string{"1 table without filters", "1 none"}},
		{with(oneKey(), whole[:99], "000003.ldb", "000004.sst"), 0, []string{"Nothing to do"}},
		{with(oneKey(), whole[:99], "900001.ldb"), 0, []string{"Nothing to do",
			"1 table sound; 1 table ignored: "}},
		{padded, 0, []string{"Nothing to do", "1 table sound\n"}},
		{with(oneKey(), whole, "900001.ldb", "900002.sst"), 2, []string{
			"its manifest may be old, or cut off: tables newer than the 1 that it names: 2\n",
			"1 table sound; 2 tables ignored"}},

		{broken, 1, []string{"FAULTY: 1 table corrupt\n", "000005.ldb: corrupt: ", "No verdict: 1 of "}},
		{filepath.Join(short, "000005.ldb"), 1, []string{
			"FAULTY: 1 table corrupt\n", "do not end in a magic number"}},
		{without(mixed(), "000010.ldb"), 1, []string{
			"FAULTY: 1 table missing; 1 table sound; 1 table without filters\n",
			"000010.ldb: missing: ", "No verdict: 1 of 3 tables faulty"}},
		{with(ours("pebblev2"), flipped, manifest), 1, []string{ // Pebble opens this
			"FAULTY: 1 database damaged\n", "- the manifest does not match its checksum at offset"}},
		{without(ours("pebblev1"), "000007.sst"), 1, []string{
			"FAULTY: 1 database damaged\n", "pebblev1 does not open it: L0: 000007"}},
		{without(oneKey(), "CURRENT"), 1, []string{
			"FAULTY: 1 database damaged\n", "there is no CURRENT: its tables can be verified one " +
				"by one, filterdump --verify DIRECTORY/*.ldb"}},
		{without(made("pebblev1"), "marker.format-version.000015.016"), 1, []string{
			"pebblev1 does not open it: pebble: could not open manifest file \"MANIFEST-000000\""}},
		{with(ours("pebblev1"), whole, "000007.sst"), 1,
			[]string{"FAULTY: 1 database damaged\n", "object size mismatch"}},

		{with(oneKey(), []byte("[Version]\n  rocksdb_version=9.0.0\n"), "OPTIONS-000007"), 2,
			[]string{"filterdump does not open it: levelbloom has no adapter"}},
		{torn("goleveldb"), 2, []string{"1 table ignored: in no manifest\n",
			"may be old, or cut off: tables newer than the 0 that it names: 1\n"}},
		{torn("pebblev1"), 2, []string{"tables newer than the 0 that it names: 1"}},
		{torn("pebblev2"), 2, []string{"tables newer than the 0 that it names: 1"}},
		{sized(made("pebblev1"), "OPTIONS-*", 900), 2, []string{"not open it: invalid key=value"}},
		{sized(made("pebblev2"), "OPTIONS-*", 4096), 2, []string{"not open it: invalid key=value"}},
		{sized(made("pebblev2"), "OPTIONS-*", 20<<30), 2, []string{
			"OPTIONS-000003 has 21474836480 bytes: at most"}},
		{sized(oneKey(), "CURRENT", 20<<30), 2, []string{"CURRENT has 21474836480 bytes: at most"}},
		{sized(made("pebblev1"), "MANIFEST-*", 1<<40), 2, []string{
			"MANIFEST-000001 has 1099511627776 bytes: at most"}},
		{empty, 0, []string{"No verdict: there are no tables, and keys that are only in the log do not " +
			"count.\n", "no tables\n"}},
		{golden("leveldb", "tables"), 2, []string{"- no database: there is no CURRENT\n"}},
		{filepath.Join(padded, "000005.ldb"), 2, []string{"more follows what may be a table of "}},
		{loop(oneKey(), "000005.ldb"), 2, []string{
			"1 table unreadable\n", "000005.ldb: unreadable: too many levels of symb"}},
		{loop(ours("pebblev1"), "000007.sst"), 2, []string{
			"pebblev1 does not open it: ", "too many levels of symbolic"}},
		{"nowhere", 2, []string{"nowhere\n- no such file or directory\n"}},
		{"doc.go", 2, []string{"1 table unreadable", "do not end in a magic number"}},
	} {
		for _, args := range [][]string{{c.path}, {c.path, "--verify"}} {
			status, out, stderr := filterdump(t, args...)
			require.Equal(t, c.status, status, "%s: %s%s", args, out, stderr)
			out = regexp.MustCompile(`\n +|([^\n])\n([a-z])`).ReplaceAllString(out, "$1 $2")
			for _, words := range c.words {
				if len(args) == 1 || !strings.Contains(words, "erdict") && words != "Nothing to do" {
					require.Contains(t, out, words, args)
				}
			}
			require.Equal(t, c.status == exitFault, strings.Contains(out, "Restore what is damaged"))
			require.Equal(t, strings.Contains(out, "false negative\n") || strings.Contains(out,
				"false negatives\n"), strings.Contains(out, "without that policy"), out)
			if c.status != 0 {
				require.NotContains(t, out, "Use ribbon")
				require.False(t, strings.HasPrefix(out, "No verdict"), out)
			}
		}
	}
	missing := without(mixed(), "000005.ldb", "000010.ldb", "000015.ldb")
	status, out, _ := filterdump(t, missing, one)
	require.Equal(t, exitFault, status)
	require.Equal(t, "FAULTY: 3 tables missing; 1 table sound\n\nRestore what is damaged from a "+
		"backup.\n\n"+missing+"\n- 3 tables, such as "+
		"000005.ldb: missing: no such file or directory\n\n"+
		"No verdict: 3 of 3 tables faulty or unverified.\n\n"+one+"\n", out)
}

// A wrong policy makes filters of other keys than it is given.
type wrong struct{ filter.Filter }

func (wrong) Name() string { return "wrong" }

func (w wrong) NewGenerator() filter.FilterGenerator { return w }

func (wrong) Add([]byte) {}

func (wrong) Generate(b filter.Buffer) {
	copy(b.Alloc(9), "\x00\x00\x00\x00\x00\x00\x00\x00\x06")
}

// Filters that lose keys under a name that is not known may be of another kind: they are a fault if
// the user names the policy.
func TestPolicy(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // the second opening makes a table of the log
		db, err := leveldb.OpenFile(dir, &opt.Options{Filter: wrong{}})
		require.NoError(t, err)
		require.NoError(t, db.Put([]byte("key"), nil, nil))
		require.NoError(t, db.Close())
	}
	for _, c := range []struct {
		status int
		words  string
		args   []string
	}{
		{exitCannotRun, "pass --policy 'wrong'", []string{"--policy", "wron", "--policy", "[w]rong"}},
		{exitFault, "FAULTY: 1 table with a false negative\n", []string{"--policy=wrong"}},
		{exitFault, "negative; no filter of the policy \"wring\" was read\n", []string{
			"--policy=wring", "--policy=wrong"}},
	} {
		status, out, stderr := filterdump(t, append(c.args, dir)...)
		require.Equal(t, c.status, status, out+stderr)
		require.Contains(t, strings.ReplaceAll(out, "\n  ", " "), c.words)
		require.Contains(t, out, "No verdict: ")
	}
}

func TestCommandLine(t *testing.T) {
	for words, args := range map[string][]string{
		"expected \"<PATH> ...\" (see -h)": nil,
		"unknown flag --nonsense":          {"doc.go", "--nonsense", "doc.go"},
	} {
		status, out, stderr := filterdump(t, args...)
		require.Equal(t, exitCannotRun, status, args)
		require.Empty(t, out)
		require.Contains(t, stderr, words)
	}
	path := filepath.Join(t.TempDir(), "a\377,b\\c\xe9") // it may have any bytes
	require.NoError(t, os.CopyFS(path, os.DirFS(golden("leveldb", "tables", "one_key"))))
	status, out, stderr := filterdump(t, "--verify", path)
	require.Equal(t, exitSound, status, out+stderr)

	// The report has it in one line, so that it can be copied.
	path = filepath.Join(t.TempDir(), strings.Repeat("a long path, ", 10))
	require.NoError(t, os.CopyFS(path, os.DirFS(golden("leveldb", "tables", "one_key"))))
	_, out, _ = filterdump(t, "--verify", path)
	require.Contains(t, out, path+"\n")
}

// An output that is closed early is told, and a pipe with a table's name is not waited for.
func TestPipes(t *testing.T) {
	dir := copyOf(t, "leveldb", "tables", "one_key")
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	defer w.Close()
	var stderr bytes.Buffer
	require.Equal(t, exitCannotRun, run([]string{dir}, w, &stderr))
	require.Contains(t, stderr.String(), "broken pipe")
	pipe := filepath.Join(dir, "000005.ldb")
	require.NoError(t, os.Remove(pipe))
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for path, status := range map[string]int{pipe: exitCannotRun, dir: exitFault} {
		got, out, _ := filterdump(t, path)
		require.Equal(t, status, got, out)
	}
}

// --verify counts nothing, and --json lists all tables.
func TestFlags(t *testing.T) {
	path := golden("leveldb", "tables", "mixed_bits")
	_, verified, _ := filterdump(t, path, "--verify")
	require.Regexp(t, `^2 tables sound; 1 table without filters\n`, verified)
	require.Regexp(t, `(?m)^ +L0 +3 +2,100 +0\.0021  2 bloom, 1 none$`, verified)
	_, out, _ := filterdump(t, "--verify", "--json", path)
	var r report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Nil(t, r.Paths[0].Verdict)
	require.Equal(t, "bloom", r.Paths[0].Tables[1].Kinds())
}

// What is being done is told from time to time, but not each table.
func TestProgress(t *testing.T) {
	var b bytes.Buffer
	tick := make(chan time.Time, 1)
	show := progress(&b, tick)
	show("soon")
	require.Empty(t, b.String())
	tick <- time.Time{}
	show("%d of 9\x1b", 1)
	show("%d of 9", 2)
	require.Equal(t, "filterdump: 1 of 9\\x1b\n", b.String())
}

// doc.go shows what its command prints.
func TestDoc(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	status, out, stderr := filterdump(t, golden("goleveldb", "name2_none_1k"))
	require.Zero(t, status, stderr)
	require.Contains(t, string(doc), "filterdump testdata/goleveldb/name2_none_1k prints:\n\n"+
		regexp.MustCompile(`(?m)^.`).ReplaceAllString(out, "\t$0"))
}
