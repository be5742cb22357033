package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
)

// Nothing from the disk reaches a terminal that this could take for a command, or for a line of the
// report.
func TestTerminalSequences(t *testing.T) {
	const sequence = "\x1b[2J\nsound\x9b\u009b\u202e"
	name := "policy" + sequence
	placeholder := strings.Repeat("x", len(name)) // goleveldb's adapter refuses the name
	p := policytest.Must(policy.NewBloom(10, policy.WithName(placeholder)))
	file, blocks := plainTable(t, p, 16, 9)
	at := bytes.Index(file, []byte(placeholder))
	copy(file[at:], name)
	mendChecksum(file, blocks, uint64(at))
	dir := filepath.Join(t.TempDir(), "dir\x1b[2J\ndir")
	require.NoError(t, os.Mkdir(dir, 0o700))
	for _, name := range []string{"1", "2", "3", "4"} {
		path := filepath.Join(dir, "table\x1b[2J\n"+name+".ldb")
		require.NoError(t, os.WriteFile(path, file, 0o600))
	}
	comparer := "comparer" + sequence
	edit := append([]byte{1, byte(len(comparer))}, comparer...)
	for name, contents := range map[string][]byte{
		"CURRENT": []byte("MANIFEST-000002\n"), "MANIFEST-000002": append(make([]byte, 7), edit...),
		"broken\x1b[2J\n.ldb": file[:100], "000001.log": nil,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), contents, 0o600))
	}
	long := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "broken\x1b[2J\n.ldb"), long, long))
	for _, args := range [][]string{
		{dir}, {filepath.Join(dir, "table\x1b[2J\n1.ldb")}, {"-verify", dir}, {"-key", "k", dir},
		{filepath.Join(dir, "none\x1b[2J\n.ldb")}, {"-key", "k", filepath.Join(dir, "none\x1b\n")},
		{dir, "-x\x1b[2J\n"},
	} {
		_, out, stderr := filterdump(t, args...)
		text := out + stderr
		require.Contains(t, text, `\x1b`, "%q", args)
		require.NotRegexp(t, `[\x00-\x09\x0b-\x1f\x7f-\x{9f}\x{202e}]|(?m)^(sound|dir|\d\.ldb)`, text,
			"%q", args)
	}
	_, d := filterdumpJSON(t, dir)
	require.Equal(t, "policy"+strings.ToValidUTF8(sequence, "\ufffd"), d.Tables[1].Policy)
}

// -verify compares keys and filters, and asks about no others.
func TestVerifyOnlyVerifies(t *testing.T) {
	path := golden("goleveldb", "name2_none_1k")
	_, out, _ := filterdump(t, "-verify", path)
	require.Contains(t, out, "sound: all 3,300 entries match their filters")
	require.NotContains(t, out, "FPR")
	require.NotContains(t, out, "NewRibbon")
	_, out, _ = filterdump(t, "-verify", "-json", path)
	require.NotContains(t, out, `"asked": 5998,`)
	_, out, _ = filterdump(t, "-json", path)
	require.Contains(t, out, `"asked": 5998,`)
}

// Several tables end with what they have in common.
func TestSums(t *testing.T) {
	dir := t.TempDir()
	writers[inWindows](t, dir, mustExact(), 1, 3000)
	args := []string{dir, dir, dir, golden("leveldb", "tables", "no_filter")}
	_, d := filterdumpJSON(t, args...)
	_, out, _ := filterdump(t, args...)
	_, sums, found := strings.Cut(out, "\nall tables\n")
	require.True(t, found, out)
	pattern := analysis.Sprintf(`^  tables       4: 1 no filter, 3 sound
  keys         %d entries of %d keys
  policy       %s in 3 tables
  filters      %d bytes, %d of LevelDB Bloom
  FPR          %s %% \[.* of absent keys between the tables' own, weighted by the
               tables' keys

The keys suit policy.NewRibbon`, d.Total.Entries, d.Total.Keys, policy.Name, d.Total.FilterBytes,
		d.Total.Encodings[exactName], analysis.Percent(d.Total.Between.Rate))
	require.Regexp(t, pattern, sums)
	_, out, _ = filterdump(t, golden("goleveldb", "name2_ribbon"))
	require.NotContains(t, out, "all tables", "one table has no sums")
	require.NotContains(t, out, "NewRibbon", "the FPR of ribbon filters is their FPP")
}
