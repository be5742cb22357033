package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
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

// change rewrites a file.
func change(t *testing.T, path string, f func(b []byte) []byte) {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, f(b), 0o600))
}

// All golden databases are sound, as the readers of their tables find too.
func TestGoldenDatabases(t *testing.T) {
	var dirs []string
	for _, pattern := range []string{"leveldb/tables/*/CURRENT", "goleveldb/*/CURRENT",
		"releases/*/*/*/db/MANIFEST-*1"} {
		found, err := filepath.Glob(golden(pattern))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		for _, path := range found {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	status, out, stderr := filterdump(t, append(dirs, "--verify")...)
	require.Equal(t, exitSound, status, out+stderr)
}

// The report tells the status, and each kind of fault has its exit status.
func TestStatus(t *testing.T) {
	one := golden("leveldb", "tables", "one_key", "000005.ldb")
	whole, err := os.ReadFile(one)
	require.NoError(t, err)
	changed := func(file string, f func(b []byte) []byte, path ...string) string {
		dir := copyOf(t, path...)
		change(t, filepath.Join(dir, file), f)
		return dir
	}
	without := func(file string, path ...string) string {
		dir := copyOf(t, path...)
		require.NoError(t, os.Remove(filepath.Join(dir, file)))
		return dir
	}
	with := func(name string, contents []byte, names ...string) string {
		dir := copyOf(t, "leveldb", "tables", "one_key")
		for _, name := range append(names, name) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), contents, 0o600))
		}
		return dir
	}
	flip := func(at int) func(b []byte) []byte {
		return func(b []byte) []byte {
			b[at] ^= 1
			return b
		}
	}
	oneKey := []string{"leveldb", "tables", "one_key"}
	ours := func(engine string) []string {
		return []string{"releases", "v0.1.0", engine, "name1_ribbon", "db"}
	}
	padded := changed("000005.ldb", func(b []byte) []byte {
		return append(b, make([]byte, 4<<10)...)
	}, oneKey...)
	broken := changed("000005.ldb", flip(3), oneKey...) // in a data block
	browser := t.TempDir()
	db, err := leveldb.OpenFile(browser, &opt.Options{Comparer: indexedDB{comparer.DefaultComparer}})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	loop, pebbleLoop := without("000005.ldb", oneKey...), without("000007.sst", ours("pebblev1")...)
	require.NoError(t, os.Symlink("000005.ldb", filepath.Join(loop, "000005.ldb")))
	require.NoError(t, os.Symlink("000007.sst", filepath.Join(pebbleLoop, "000007.sst")))
	empty := t.TempDir()
	db, err = leveldb.OpenFile(empty, nil)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	short := filepath.Join(t.TempDir(), "000005.ldb")
	require.NoError(t, os.WriteFile(short, whole[:len(whole)-1], 0o600))

	for _, c := range []struct {
		path   string
		status int
		words  []string
	}{
		{one, 0, []string{"1 table sound\n", one}},
		{golden("leveldb", "tables", "no_filter"), 0, []string{"1 table without filters", "1 none"}},
		{with("000003.ldb", whole[:99], "000004.sst"), 0, []string{"Nothing to do"}}, // obsolete
		{with("900001.ldb", whole[:99]), 0, []string{"Nothing to do", "1 table sound; 1 table left "}},
		{padded, 0, []string{"Nothing to do", "1 table sound\n"}},
		{with("900001.ldb", whole, "900002.sst"), 0, []string{"No verdict: the manifest may be old: " +
			"tables newer than the 1 that it names: 2.", "1 table sound; 2 tables left out"}},

		{broken, 1, []string{"FAULTY: 1 table corrupt\n", "000005.ldb: corrupt: ", "No verdict: 1 of "}},
		{short, 1, []string{"FAULTY: 1 table corrupt\n", "do not end in a magic number"}},
		{without("000010.ldb", "leveldb", "tables", "mixed_bits"), 1, []string{
			"FAULTY: 1 table missing; 1 table sound; 1 table without filters\n", "000010.ldb: missing: ",
			"No verdict: 1 of 3 tables cannot be read"}},
		{changed("MANIFEST-000011", flip(9), ours("pebblev2")...), 1, []string{ // Pebble opens this
			"FAULTY: 1 database damaged\n", ": the manifest does not match its checksum at offset"}},
		{without("000007.sst", ours("pebblev1")...), 1, []string{
			"FAULTY: 1 database damaged\n", "pebblev1 does not open it: L0: 000007"}},
		{changed("CURRENT", func([]byte) []byte { return []byte("\n\n") }, oneKey...), 1, []string{
			"FAULTY: 1 database damaged\n", "CURRENT names no manifest"}},
		{without("MANIFEST-000002", oneKey...), 1, []string{
			"FAULTY: 1 database damaged\n", "CURRENT names MANIFEST-000002: file does"}},
		{changed("000007.sst", func(b []byte) []byte { return b[1:] }, ours("pebblev1")...), 1,
			[]string{"FAULTY: 1 database damaged\n", "object size mismatch"}},

		{with("OPTIONS-000007", []byte("[Version]\n  rocksdb_version=9.0.0\n")), 2,
			[]string{"filterdump does not open it: levelbloom has no adapter"}},
		{browser, 2, []string{"its comparer is 'idb_cmp1', which is not known here"}},
		{empty, 0, []string{"No verdict: there are no tables, and keys that are only in the log do not " +
			"count.\n", "no tables\n"}},
		{golden("leveldb", "tables"), 2, []string{": no database: there is no CURRENT\n"}},
		{filepath.Join(padded, "000005.ldb"), 2, []string{"more follows what may be a table of "}},
		{loop, 2, []string{"1 table unreadable\n", "000005.ldb: unreadable: too many levels of symb"}},
		{pebbleLoop, 2, []string{"pebblev1 does not open it: ", "too many levels of symbolic"}},
		{"nowhere", 2, []string{"nowhere: no such file or directory\n"}},
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
			if c.status != 0 {
				require.NotContains(t, out, "Use ribbon")
				require.False(t, strings.HasPrefix(out, "No verdict"), out)
			}
		}
	}
	status, out, _ := filterdump(t, "--verify", one, broken)
	require.Equal(t, exitFault, status)
	require.True(t, strings.HasPrefix(out, "FAULTY: 1 table corrupt; 1 table sound\n"), out)
}

// A table that is gone is a fault, and there is no verdict, however many are left. What is wrong
// with many tables for one reason is said once.
func TestMissingTables(t *testing.T) {
	dir, out := copyOf(t, "leveldb", "tables", "mixed_bits"), ""
	for i, name := range []string{"000005.ldb", "000010.ldb", "000015.ldb"} {
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
		var status int
		status, out, _ = filterdump(t, dir)
		require.Equal(t, exitFault, status)
		require.Contains(t, out, fmt.Sprintf("\nNo verdict: %d of 3 tables cannot be read", i+1))
	}
	require.Equal(t, "FAULTY: 3 tables missing\n\n"+dir+"\n- 3 tables, such as 000005.ldb: missing: "+
		"no such file or directory\n\nNo verdict: 3 of 3 tables cannot be read, or trusted.\n", out)
}

// A wrong filter has other keys than its table.
type wrong struct{ filter.Filter }

func (wrong) Name() string { return "wrong" }

func (wrong) NewGenerator() filter.FilterGenerator { return wrongGenerator{} }

type wrongGenerator struct{}

func (wrongGenerator) Add([]byte) {}

func (wrongGenerator) Generate(b filter.Buffer) {
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
		{exitCannotRun, "pass --policy 'wrong'", nil},
		{exitCannotRun, "pass --policy 'wrong'", []string{"--policy", "wron", "--policy", "[w]rong"}},
		{exitFault, "FAULTY: 1 table with a false negative\n", []string{"--policy=wrong"}},
	} {
		status, out, stderr := filterdump(t, append(c.args, dir)...)
		require.Equal(t, c.status, status, out+stderr)
		require.Contains(t, strings.ReplaceAll(out, "\n  ", " "), c.words)
		require.Contains(t, out, "No verdict: ")
	}
}

// indexedDB is the comparer of a browser's databases, by name.
type indexedDB struct{ comparer.Comparer }

func (indexedDB) Name() string { return "idb_cmp1" }

func TestCommandLine(t *testing.T) {
	table := golden("leveldb", "tables", "one_key", "000005.ldb")
	for _, c := range []struct {
		words string
		args  []string
	}{
		{"expected \"<PATH> ...\" (see -h)", nil},
		{"unknown flag --nonsense", []string{table, "--nonsense", table}},
	} {
		status, out, stderr := filterdump(t, c.args...)
		require.Equal(t, exitCannotRun, status, c.args)
		require.Empty(t, out)
		require.Contains(t, stderr, c.words)
	}
	// A path may have any bytes.
	path := filepath.Join(t.TempDir(), "a\377,b\\c\xe9.ldb")
	b, err := os.ReadFile(table)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, b, 0o600))
	status, out, stderr := filterdump(t, path, table)
	require.Equal(t, exitSound, status, out+stderr)
	status, out, _ = filterdump(t, "-h", "no such path")
	require.Equal(t, exitSound, status)
	require.Contains(t, out, "Usage: filterdump <PATH> ... [flags]")
	for _, line := range strings.Split(out, "\n") {
		require.LessOrEqual(t, len(line), width)
	}
	status, out, _ = filterdump(t, "--version")
	require.Equal(t, exitSound, status)
	require.Regexp(t, `^\S+\n$`, out)
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
	_, short, _ := filterdump(t, path)
	require.True(t, strings.HasPrefix(short, "Nothing to do: with so few keys"), short)
	require.Regexp(t, `(?m)^L0 +3 +2,100 +0\.0021  2 LevelDB Bloom, 1 none$`, short)
	require.Contains(t, short, "\nTables by the filters' policy: 2 leveldb.BuiltinBloomFilter2\n")
	require.True(t, strings.HasSuffix(short, "\n2 tables sound; 1 table without filters\n"), short)
	require.NotContains(t, short, "000010.ldb")
	_, verified, _ := filterdump(t, path, "--verify")
	require.True(t, strings.HasPrefix(verified, "2 tables sound; 1 table without filters\n"), verified)
	_, out, _ := filterdump(t, "--verify", "--json", path)
	var r report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Nil(t, r.Paths[0].Verdict)
	require.Equal(t, "LevelDB Bloom", r.Paths[0].Tables[1].Kinds())
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

// doc.go shows what its command prints, and names the fields of the JSON.
func TestDoc(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	here, err := os.Getwd()
	require.NoError(t, err)
	require.NoError(t, os.Chdir(golden(".."))) // the command is given in the top directory
	defer func() { require.NoError(t, os.Chdir(here)) }()
	const path = "testdata/goleveldb/name2_none_1k"
	status, out, stderr := filterdump(t, path)
	require.Zero(t, status, stderr)
	require.Contains(t, string(doc), "filterdump "+path+" prints:\n\n"+
		regexp.MustCompile(`(?m)^.`).ReplaceAllString(out, "\t$0"))
	_, about, _ := strings.Cut(string(doc), "# JSON")
	_, out, _ = filterdump(t, "--json", path, "testdata/leveldb/tables/no_filter", "nowhere")
	fields := regexp.MustCompile(`(?m)^ *"([a-z_0-9]+)":`)
	for _, field := range fields.FindAllStringSubmatch(out, -1) {
		require.Regexp(t, `\b`+field[1]+`\b`, about)
	}
}
