package goleveldb_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// cpp is the program that reads and writes databases with C++ LevelDB; the README beside its source
// has the commands.
type cpp string

// cppDir is the program's directory, if there is one yet.
var cppDir string

func TestMain(m *testing.M) {
	code := m.Run()
	if cppDir != "" {
		os.RemoveAll(cppDir)
	}
	os.Exit(code)
}

// buildCpp builds the program once for all tests. It skips the test where that is not possible,
// unless LEVELBLOOM_REQUIRE_CPP=1.
func buildCpp(t *testing.T) cpp {
	if testing.Short() {
		t.Skip("starts C++ LevelDB")
	}
	if cppDir == "" {
		var err error
		cppDir, err = os.MkdirTemp("", "levelbloom-")
		require.NoError(t, err)
	}
	program := filepath.Join(cppDir, "database") // which make builds once
	build := exec.Command(
		"make", "-C", "../../testdata/leveldb", "CXX=g++", "BUILD="+cppDir, program)
	if out, err := build.CombinedOutput(); err != nil {
		message := fmt.Sprintf("to compare with C++ LevelDB, install "+
			"g++ make libleveldb-dev libxxhash-dev (on Debian): %v\n%s", err, out)
		if os.Getenv("LEVELBLOOM_REQUIRE_CPP") == "1" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	return cpp(program)
}

// run runs the program with lines as input and returns its output.
func (c cpp) run(t *testing.T, lines []byte, args ...string) string {
	cmd := exec.Command(string(c), args...)
	var out, fault bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(lines), &out, &fault
	require.NoError(t, cmd.Run(), "%s", &fault)
	return out.String()
}

// write creates a database with the given content, which lies in tables.
func (c cpp) write(t *testing.T, dir, name string, bitsPerKey int, content entries) {
	var lines bytes.Buffer
	for key, value := range content {
		fmt.Fprintf(&lines, "%x %x\n", key, value)
	}
	c.run(t, lines.Bytes(), "write", dir, name, fmt.Sprint(bitsPerKey))
}

// read looks up keys, with LevelDB's own reader of filters or, if more is "ours", with that of
// testdata/cppreader. It returns what it found, and what the filters answered.
func (c cpp) read(
	t *testing.T, dir, name string, keys [][]byte, more ...string,
) (found entries, answers policy.Counters) {
	var lines bytes.Buffer
	for _, key := range keys {
		fmt.Fprintf(&lines, "%x\n", key)
	}
	args := append([]string{"read", dir, name}, more...)
	out := strings.Split(c.run(t, lines.Bytes(), args...), "\n")
	require.Len(t, out, len(keys)+2,
		"a line for each key, the counts, and nothing after the last line feed")
	found = entries{}
	for i, key := range keys {
		if out[i] == fmt.Sprintf("%x\tabsent", key) {
			continue
		}
		text, ok := strings.CutPrefix(out[i], fmt.Sprintf("%x\tfound\t", key))
		require.True(t, ok, "%q", out[i])
		value, err := hex.DecodeString(text)
		require.NoError(t, err)
		found[string(key)] = string(value)
	}
	var checked, absent uint64
	_, err := fmt.Sscanf(out[len(keys)], "checks=%d absent=%d", &checked, &absent)
	require.NoError(t, err, "%q", out[len(keys)])
	return found, policy.Counters{Absent: absent, MayContain: checked - absent}
}
