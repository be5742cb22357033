package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
)

// Nothing from the disk reaches a terminal that this could take for a command, or for a line of the
// report.
func TestTerminalSequences(t *testing.T) {
	const sequence = "\x1b[2J\nsound\x9b\u009b\u202e"
	name := "policy" + sequence
	placeholder := strings.Repeat("x", len(name)) // goleveldb's adapter refuses the name
	p := policytest.Must(policy.NewBloom(10, policy.WithName(placeholder)))
	file, blocks := plainTable(t, goleveldb.New(p), 16, 9)
	at := bytes.Index(file, []byte(placeholder))
	copy(file[at:], name)
	mendChecksum(file, blocks, uint64(at))
	dir := filepath.Join(t.TempDir(), "dir\x1b[2J\ndir")
	require.NoError(t, os.Mkdir(dir, 0o700))
	for _, name := range []string{"1", "2", "3", "4"} {
		path := filepath.Join(dir, "00000"+name+".table\x1b[2J\n.ldb")
		require.NoError(t, os.WriteFile(path, file, 0o600))
	}
	comparer := "comparer" + sequence
	var manifest bytes.Buffer
	w := record.NewWriter(&manifest)
	edit := append([]byte{1, byte(len(comparer))}, comparer...)
	for number := range byte(4) { // level 0, no size, internal keys without user keys
		edit = append(edit, 7, 0, number+1, 0)
		edit = append(append(edit, 8), make([]byte, 8)...)
		edit = append(append(edit, 8), make([]byte, 8)...)
	}
	_, err := w.WriteRecord(edit)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for name, contents := range map[string][]byte{
		"CURRENT": []byte("MANIFEST-000002\n"), "MANIFEST-000002": manifest.Bytes(),
		"broken\x1b[2J\n.ldb": file[:100], "000001.log": nil,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), contents, 0o600))
	}
	long := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "broken\x1b[2J\n.ldb"), long, long))
	for _, args := range [][]string{
		{dir}, {filepath.Join(dir, "000001.table\x1b[2J\n.ldb")}, {"--verify", dir},
		{filepath.Join(dir, "none\x1b[2J\n.ldb")},
		{filepath.Join(dir, "broken\x1b[2J\n.ldb")}, {"--x\x1b[2J\n", dir},
	} {
		_, out, stderr := filterdump(t, args...)
		text := out + stderr
		require.Contains(t, text, `\x1b`, "%q", args)
		require.NotRegexp(t, `[\x00-\x09\x0b-\x1f\x7f-\x{9f}\x{202e}]|(?m)^(sound|dir|\d\.ldb)`, text,
			"%q", args)
	}
	_, d := filterdumpJSON(t, dir)
	require.Equal(t, "policy"+strings.ToValidUTF8(sequence, "\ufffd"), d.Tables[0].Policy)
}

// --verify compares keys and filters, and counts nothing.
func TestVerifyOnlyVerifies(t *testing.T) {
	path := golden("goleveldb", "name2_none_1k")
	_, out, _ := filterdump(t, "--verify", path)
	require.Contains(t, out, "sound: all 3300 entries match their filters")
	require.NotContains(t, out, "Too few keys")
	_, d := filterdumpJSON(t, "--verify", path)
	require.Nil(t, d.Paths[0].Verdict)
	_, d = filterdumpJSON(t, path)
	require.Equal(t, "Too few keys: any filter does.", d.Paths[0].Verdict.Sentence)
	_, out, _ = filterdump(t, path)
	require.Contains(t, out, "\n  Too few keys: any filter does.\n  - Counted with ")
}
