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

// cppDir is the directory of the program once it is built, and "" before.
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
	if cppDir != "" {
		return cpp(filepath.Join(cppDir, "database"))
	}
	if missing := missingForCpp(); missing != "" {
		message := missing + ": to compare with C++ LevelDB, install " +
			"g++ make libleveldb-dev libxxhash-dev (on Debian)"
		if os.Getenv("LEVELBLOOM_REQUIRE_CPP") == "1" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	dir, err := os.MkdirTemp("", "levelbloom-")
	require.NoError(t, err)
	program := filepath.Join(dir, "database")
	build := exec.Command("make", "-C", "../../testdata/leveldb", "CXX=g++", "BUILD="+dir, program)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	cppDir = dir
	return cpp(program)
}

// missingForCpp says what the build lacks, or nothing.
func missingForCpp() string {
	for _, tool := range []string{"make", "g++"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "there is no " + tool
		}
	}
	include := exec.Command("g++", "-fsyntax-only", "-x", "c++", "-")
	include.Stdin = strings.NewReader("#include <leveldb/db.h>\n#include <xxhash.h>\n")
	if err := include.Run(); err != nil {
		return "g++ does not find leveldb/db.h and xxhash.h"
	}
	return ""
}

// run runs the program with lines as input and returns its output.
func (c cpp) run(t *testing.T, lines []byte, args ...string) string {
	cmd := exec.Command(string(c), args...)
	var out, fault bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(lines), &out, &fault
	require.NoError(t, cmd.Run(), "%s", &fault)
	return out.String()
}

// write creates a database with the given content.
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
		fields := strings.Split(out[i], "\t")
		require.Equal(t, hex.EncodeToString(key), fields[0])
		switch {
		case len(fields) == 2 && fields[1] == "absent":
		case len(fields) == 3 && fields[1] == "found":
			value, err := hex.DecodeString(fields[2])
			require.NoError(t, err)
			found[string(key)] = string(value)
		default:
			require.Fail(t, "unknown answer", "%q", out[i])
		}
	}
	return found, countsOf(t, out[len(keys)])
}

// countsOf reads the program's last line.
func countsOf(t *testing.T, line string) policy.Counters {
	var checked, absent uint64
	_, err := fmt.Sscanf(line, "checks=%d absent=%d", &checked, &absent)
	require.NoError(t, err, "%q", line)
	return policy.Counters{ReadsAvoided: absent, MayContain: checked - absent}
}
