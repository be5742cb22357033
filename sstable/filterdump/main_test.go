package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
)

// golden is where the tables are that other programs wrote.
func golden(path ...string) string {
	return filepath.Join(append([]string{"..", "..", "testdata"}, path...)...)
}

// filterdump runs the program.
func filterdump(t *testing.T, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(context.Background(), args, &out, &err)
	return status, out.String(), err.String()
}

func filterdumpJSON(t *testing.T, args ...string) (status int, d report) {
	status, out, stderr := filterdump(t, append([]string{"--json"}, args...)...)
	require.NoError(t, json.Unmarshal([]byte(out), &d), stderr)
	require.True(t, strings.HasPrefix(out, "{\n  \"verdict\""), "the verdict comes first")
	return status, d
}

// All golden databases are sound, and filterdump sees what their sidecars say.
func TestGoldenDatabases(t *testing.T) {
	sidecars, err := filepath.Glob(golden("leveldb", "tables", "*.json"))
	require.NoError(t, err)
	require.Len(t, sidecars, 14)
	for _, sidecar := range sidecars {
		var want struct {
			Policy string `json:"filter_policy"`
			Tables []policytest.GoldenTable
		}
		text, err := os.ReadFile(sidecar)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &want))

		dir := strings.TrimSuffix(sidecar, ".json")
		status, d := filterdumpJSON(t, "--verify", "--bloom", "golden.CustomFilter", dir)
		require.Equal(t, exitSound, status, dir)
		tablesByName := map[string]*scan.Result{}
		for _, table := range d.Tables {
			tablesByName[filepath.Base(table.Path)] = table
		}
		require.Len(t, tablesByName, len(want.Tables), dir)
		for _, w := range want.Tables {
			table := tablesByName[w.File]
			require.EqualValues(t, w.Entries, table.Entries, table.Path)
			require.Equal(t, "LevelDB", table.Format)
			if table.Status == scan.NoFilter {
				require.Nil(t, table.Filters)
				continue
			}
			require.Equal(t, scan.Sound, table.Status, table.Path)
			require.Equal(t, want.Policy, table.Policy)
			require.Equal(t, tables.PerWindow, table.Layout)
			require.Equal(t, 11, table.BaseLg)
		}
	}
	_, d := filterdumpJSON(t, golden("goleveldb", "name2_baselg13"))
	require.Equal(t, 13, d.Tables[0].BaseLg)
}

// The first line is the verdict, and each status has its exit status.
func TestVerdictAndExitStatus(t *testing.T) {
	dir := t.TempDir()
	good, err := os.ReadFile(golden("leveldb", "tables", "one_key", "000005.ldb"))
	require.NoError(t, err)
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, b, 0o600))
		long := time.Now().Add(-time.Hour) // nobody is writing it
		require.NoError(t, os.Chtimes(path, long, long))
		return path
	}
	sound := write("sound/000005.ldb", good)
	broken := bytes.Clone(good)
	broken[3] ^= 1 // of the data block, whose checksum then is wrong
	corrupt := write("corrupt/000005.ldb", broken)
	short := write("short/000005.ldb", good[:len(good)-1])
	text := write("none/readme.txt", []byte("hello"))
	noDatabase := filepath.Dir(text)
	link := write("link/000001.ldb", good)
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink("nowhere", link))
	newer := write("newer/000001.sst", append(bytes.Repeat([]byte{99}, 100), "🪳🪳"...))
	const lostKey = "key00289" // the 18th of 50
	bloom := goleveldb.New(policytest.Must(policy.NewBloom(20)))
	missing, _ := plainTable(t, dropping{bloom, lostKey}, 50, 9)
	lost := write("lost/000001.ldb", missing)
	above := filepath.Dir(filepath.Dir(write("above/db/000005.ldb", good)))

	for _, c := range []struct {
		name           string
		args           []string
		status         int
		verdict, words string
	}{
		{"sound", []string{sound}, 0, "1 table sound: all 1 entry match their filters",
			"leveldb.BuiltinBloomFilter2"},
		{"without filters", []string{golden("leveldb", "tables", "no_filter")}, 0,
			"1 table without filters", "no filter"},
		{"corrupt", []string{corrupt}, 1, "FAULTY: 1 table corrupt", "checksum"},
		{"truncated", []string{short}, 1, "FAULTY: 1 table corrupt",
			"corrupt: not a table: its 195 bytes do not end in a magic number"},
		{"corrupt among sound", []string{sound, corrupt}, 1,
			"FAULTY: 1 table corrupt; 1 table sound: all 1 entry match their filters", "checksum"},
		{"a lost key", []string{lost}, 1,
			"FAULTY: 1 table with false negatives: 1 entry not matched by their filter",
			fmt.Sprintf("false negative: 1 of 50 entries do not match their filter: %x\n", lostKey)},
		{"no database", []string{noDatabase}, 2, "no tables; 1 PATH could not be read",
			"no tables (.ldb, .sst); the data of a new database is all in its log"},
		{"database below", []string{above}, 2, "no tables; 1 PATH could not be read", ""},
		{"sound and no such path", []string{sound, filepath.Join(dir, "nowhere")}, 2,
			"1 table sound: all 1 entry match their filters; 1 PATH could not be read",
			"no such file"},
		{"unsupported", []string{newer}, 2, "1 table that cannot be read here",
			"only Pebble v1 to v7"},
		{"not a table", []string{text, sound}, 2,
			"1 table sound: all 1 entry match their filters; 1 table unreadable",
			"unreadable: not a table: its 5 bytes do not end in a magic number"},
		{"link that leads nowhere", []string{link}, 2, "no tables; 1 PATH could not be read",
			"no such file"},
		{"in a directory", []string{filepath.Dir(link)}, 2, "1 table unreadable",
			"a symbolic link that leads nowhere"},
	} {
		status, out, stderr := filterdump(t, c.args...)
		require.Equal(t, c.status, status, "%s: %s", c.name, stderr)
		require.Equal(t, c.verdict, strings.SplitN(out, "\n", 2)[0], c.name)
		unwrapped := regexp.MustCompile(`\n {4}`).ReplaceAllString(out, " ")
		require.Contains(t, unwrapped, c.words, c.name)
		_, again, _ := filterdump(t, c.args...)
		require.Equal(t, out, again, "%s: the same table gives the same report", c.name)
		status, out, _ = filterdump(t, append([]string{"--verify"}, c.args...)...)
		require.Equal(t, c.status, status, "%s with --verify", c.name)
		require.True(t, strings.HasPrefix(out, c.verdict+"\n"), "%s with --verify", c.name)
	}
}

// dropping makes filters without one key.
type dropping struct {
	filter.Filter
	key string
}

func (d dropping) NewGenerator() filter.FilterGenerator {
	return droppingGenerator{d.Filter.NewGenerator(), d.key}
}

type droppingGenerator struct {
	filter.FilterGenerator
	key string
}

func (g droppingGenerator) Add(key []byte) {
	if string(key) != g.key {
		g.FilterGenerator.Add(key)
	}
}

func TestCommandLine(t *testing.T) {
	table := golden("leveldb", "tables", "one_key", "000005.ldb")
	for _, c := range []struct {
		words string
		args  []string
	}{
		{"expected \"<PATH> ...\" (see -h)", nil},
		{"unknown flag --nonsense", []string{"--nonsense", table}},
	} {
		status, out, stderr := filterdump(t, c.args...)
		require.Equal(t, exitCannotRun, status, c.args)
		require.Empty(t, out)
		require.Contains(t, stderr, c.words)
	}
	status, out, _ := filterdump(t, "-h", "no such path")
	require.Equal(t, exitSound, status)
	require.Contains(t, out, "Usage: filterdump <PATH> ... [flags]")
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, stderr bytes.Buffer
	require.Equal(t, exitInterrupted,
		run(ctx, []string{golden("leveldb", "tables", "one_key")}, &out, &stderr))
	require.Empty(t, out.String())
}
