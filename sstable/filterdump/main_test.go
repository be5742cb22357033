package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

// golden is where the databases are that other programs wrote.
func golden(path ...string) string {
	return filepath.Join(append([]string{"..", "..", "testdata"}, path...)...)
}

// filterdump runs the program.
func filterdump(t *testing.T, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(context.Background(), args, &out, &err)
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
	status, out, stderr := filterdump(t, append(dirs, "--verify", "--policies", "golden.*")...)
	require.Equal(t, exitSound, status, out+stderr)
}

// The first line tells the status, and each kind of fault has its exit status.
func TestStatus(t *testing.T) {
	one := golden("leveldb", "tables", "one_key", "000005.ldb")
	flip := func(at int) func(b []byte) []byte {
		return func(b []byte) []byte {
			b[at] ^= 1
			return b
		}
	}
	broken := copyOf(t, "leveldb", "tables", "one_key")
	change(t, filepath.Join(broken, "000005.ldb"), flip(3)) // in a data block
	short := filepath.Join(t.TempDir(), "000005.ldb")
	whole, err := os.ReadFile(one)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(short, whole[:len(whole)-1], 0o600))
	missing := copyOf(t, "leveldb", "tables", "mixed_bits")
	require.NoError(t, os.Remove(filepath.Join(missing, "000010.ldb")))
	damaged := copyOf(t, "releases", "v0.1.0", "pebblev2", "name1_ribbon", "db")
	change(t, filepath.Join(damaged, "MANIFEST-000011"), flip(9)) // Pebble opens this
	pebble := copyOf(t, "releases", "v0.1.0", "pebblev1", "name1_ribbon", "db")
	require.NoError(t, os.Remove(filepath.Join(pebble, "000007.sst")))
	rocksDB := copyOf(t, "leveldb", "tables", "one_key")
	options := []byte("[Version]\n  rocksdb_version=9.0.0\n")
	require.NoError(t, os.WriteFile(filepath.Join(rocksDB, "OPTIONS-000007"), options, 0o600))
	refused := copyOf(t, "releases", "v0.1.0", "goleveldb", "name1_ribbon", "db")
	change(t, filepath.Join(refused, "CURRENT"), func([]byte) []byte { return []byte("\n\n") })
	cut := copyOf(t, "releases", "v0.1.0", "pebblev1", "name1_ribbon", "db")
	change(t, filepath.Join(cut, "000007.sst"), func(b []byte) []byte { return b[1:] })
	padded := copyOf(t, "leveldb", "tables", "one_key")
	alone := filepath.Join(padded, "000005.ldb")
	change(t, alone, func(b []byte) []byte { return append(b, make([]byte, 4<<10)...) })
	browser := t.TempDir()
	db, err := leveldb.OpenFile(browser, &opt.Options{
		Comparer: indexedDB{comparer.DefaultComparer}})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	gone := copyOf(t, "leveldb", "tables", "one_key")
	require.NoError(t, os.Remove(filepath.Join(gone, "MANIFEST-000002")))
	old := copyOf(t, "leveldb", "tables", "one_key") // whose manifest was restored, say
	extra := copyOf(t, "leveldb", "tables", "one_key")
	for _, name := range []string{"900001.ldb", "900002.sst"} {
		require.NoError(t, os.WriteFile(filepath.Join(old, name), whole, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(extra, "900001.ldb"), whole[:99], 0o600))
	newer := filepath.Join(t.TempDir(), "000001.sst")
	require.NoError(t, os.WriteFile(newer, append(bytes.Repeat([]byte{99}, 100), "🪳🪳"...), 0o600))

	for _, c := range []struct {
		path         string
		status       int
		first, words string
	}{
		{one, 0, "1 table sound: all 1 entry match their filters", "leveldb.BuiltinBloomFilter2"},
		{golden("leveldb", "tables", "no_filter"), 0, "1 table without filters", "1 none"},
		{extra, 0, "1 table sound: all 1 entry match their filters; 1 table left out, which no " +
			"manifest names", "Nothing to do"},
		{broken, 1, "FAULTY: 1 table corrupt", "checksum"},
		{short, 1, "FAULTY: 1 table corrupt", "do not end in a magic number"},
		{missing, 1, "FAULTY: 1 table missing; 1 table sound: all 700 entries match their " +
			"filters; 1 table without filters", "1 table of the database cannot be read"},
		{damaged, 1, "FAULTY: 1 database damaged", "does not match its checksum at offset"},
		{pebble, 1, "FAULTY: 1 database damaged", "pebblev1 does not open it: L0: 000007"},
		{rocksDB, 2, "1 PATH could not be read", "filterdump does not open it: levelbloom has no "},
		{refused, 1, "FAULTY: 1 database damaged", "CURRENT names no manifest"},
		{gone, 1, "FAULTY: 1 database damaged", "CURRENT names MANIFEST-000002: file does"},
		{cut, 1, "FAULTY: 1 database damaged", "object size mismatch"},
		{padded, 0, "1 table sound: all 1 entry match their filters", "Nothing to do"},
		{alone, 2, "1 table unreadable", "more follows what may be a table"},
		{browser, 2, "1 PATH could not be read", "its comparer is 'idb_cmp1', which is not known"},
		{old, 0, "1 table sound: all 1 entry match their filters; 2 tables left out, which no " +
			"manifest names", "No verdict: the manifest names 1 table, and leaves out 2 newer ones"},
		{golden("leveldb", "tables"), 2, "1 PATH could not be read", "mixed_sizes, " +
			"multi_level, no_filter, nocompress, one_key, versions"}, // not raw_tablebuilder
		{golden("leveldb", "tables", "raw_tablebuilder"), 2, "1 PATH could not be read",
			"no database: there is no CURRENT"},
		{"nowhere", 2, "1 PATH could not be read", "no such file"},
		{newer, 2, "1 table unreadable", "unsupported pebble format version"},
		{"doc.go", 2, "1 table unreadable", "do not end in a magic number"},
	} {
		for _, args := range [][]string{{c.path}, {c.path, "--verify"}} {
			status, out, stderr := filterdump(t, args...)
			require.Equal(t, c.status, status, "%s: %s%s", args, out, stderr)
			first, rest, _ := strings.Cut(out, "\n\n")
			require.Equal(t, c.first, strings.ReplaceAll(first, "\n", " "), args)
			if len(args) == 1 {
				rest = regexp.MustCompile(`\n +`).ReplaceAllString(rest, " ")
				require.Contains(t, rest, c.words, args)
			}
		}
	}
	status, out, _ := filterdump(t, "--verify", one, broken)
	require.Equal(t, exitFault, status)
	require.True(t, strings.HasPrefix(out, "FAULTY: 1 table corrupt; 1 table sound: all 1 "), out)
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
		{"unknown flag --nonsense", []string{"--nonsense", table}},
		{"-json: write --json, with two dashes", []string{"-json", table}},
		{"--policies [: syntax error in pattern", []string{"--policies", "[", table}},
		{"no such file", []string{"--page", filepath.Join(t.TempDir(), "none", "p.html"), table}},
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
	status, out, _ = filterdump(t, "--version")
	require.Equal(t, exitSound, status)
	require.Regexp(t, `^\S+\n$`, out)
}

// A signal that nohup, say, has the program ignore does not end it.
func TestIgnoredSignals(t *testing.T) {
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has the tests ignore it
		require.Contains(t, interrupts(), syscall.SIGHUP)
	}
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	require.NotContains(t, interrupts(), syscall.SIGHUP)
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, stderr bytes.Buffer
	require.Equal(t, exitInterrupted,
		run(ctx, []string{golden("leveldb", "tables", "one_key")}, &out, &stderr))
	require.Empty(t, out.String())
}

// --verify counts nothing. --tables lists all tables, and --page writes what the text says.
func TestFlags(t *testing.T) {
	path := golden("leveldb", "tables", "mixed_bits")
	_, short, _ := filterdump(t, path)
	require.Contains(t, short, "Nothing to do")
	require.Regexp(t, `(?m)^  L0 +3 +2100 +0\.0022 +2 LevelDB Bloom, 1 none +2 leveldb\.`, short)
	require.NotContains(t, short, "000010.ldb")
	_, long, _ := filterdump(t, "--verify", "--tables", path)
	require.NotContains(t, long, "Nothing to do")
	require.Regexp(t,
		`(?m)^  000010\.ldb +leveldb\.BuiltinBloomFilter2 +LevelDB Bloom +700 +\d.* sound$`, long)
	_, out, _ := filterdump(t, "--verify", "--json", path)
	var r report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Nil(t, r.Paths[0].Verdict)

	file := filepath.Join(t.TempDir(), "page.html")
	status, out, _ := filterdump(t, "--page", file, path)
	require.Equal(t, exitSound, status)
	require.Equal(t, short, out)
	html, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, words := range []string{r.Verdict, "Nothing to do", "000010.ldb", "2 LevelDB Bloom"} {
		require.Contains(t, string(html), words)
	}
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

// doc.go names all fields of the JSON, and shows what its command prints.
func TestDoc(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	text := string(doc)
	here, err := os.Getwd()
	require.NoError(t, err)
	require.NoError(t, os.Chdir(golden(".."))) // the command is given in the top directory
	defer func() { require.NoError(t, os.Chdir(here)) }()
	const path = "testdata/goleveldb/name2_none_1k"
	require.Contains(t, text, "filterdump "+path+" prints")
	status, out, stderr := filterdump(t, path)
	require.Zero(t, status, stderr)
	require.Contains(t, text, "\n"+regexp.MustCompile(`(?m)^.`).ReplaceAllString(out, "\t$0"))

	_, about, _ := strings.Cut(text, "# JSON")
	_, out, _ = filterdump(t, "--json", path, "testdata/leveldb/tables/no_filter", "nowhere")
	fields := regexp.MustCompile(`(?m)^ *"([a-z_0-9]+)":`)
	for _, field := range fields.FindAllStringSubmatch(out, -1) {
		require.Regexp(t, fmt.Sprintf(`\b%s\b`, field[1]), about)
	}
}
