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
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
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
			"g++ make libleveldb-dev (on Debian)"
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
	include.Stdin = strings.NewReader("#include <leveldb/db.h>\n")
	if err := include.Run(); err != nil {
		return "g++ does not find leveldb/db.h"
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

// read looks up keys. It returns what it found, how often a filter was asked, and how often the
// answer was "absent".
func (c cpp) read(
	t *testing.T, dir, name string, keys [][]byte,
) (found entries, asked, absent int64) {
	var lines bytes.Buffer
	for _, key := range keys {
		fmt.Fprintf(&lines, "%x\n", key)
	}
	out := strings.Split(c.run(t, lines.Bytes(), "read", dir, name), "\n")
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
	n, err := fmt.Sscanf(out[len(keys)], "checks=%d absent=%d", &asked, &absent)
	require.NoError(t, err, "%d counts in %q", n, out[len(keys)])
	return found, asked, absent
}

// requireSameAnswers reads a database of one table with goleveldb and with C++ LevelDB. Both must
// find everything, ask filters as often, and get as many answers "absent".
func (c cpp) requireSameAnswers(t *testing.T, dir, name string, content entries) {
	var present [][]byte
	for key := range content {
		present = append(present, []byte(key))
	}
	absent := absentKeys(t, 13, 5000)

	// Reading needs no setting: 1 bit per key reads all.
	ours := &spy{Policy: bloom(t, 1, policy.WithName(name))}
	db := openReadOnly(t, dir, ours)
	tables := 0
	for _, n := range tablesPerLevel(t, db) {
		tables += n
	}
	require.Equal(t, 1, tables)
	require.Zero(t, content.lost(t, db))
	require.EqualValues(t, len(present), ours.asked.Load())
	require.Zero(t, ours.absent.Load())
	for _, key := range absent {
		_, err := db.Get(key, nil)
		require.ErrorIs(t, err, leveldb.ErrNotFound)
	}
	require.NoError(t, db.Close())

	found, theyAsked, theyAbsent := c.read(t, dir, name, append(present, absent...))
	require.Equal(t, content, found)
	require.Equal(t, ours.asked.Load(), theyAsked)
	require.Equal(t, ours.absent.Load(), theyAbsent)

	// About 1 % is expected of random keys at 9.5 or 10 bits per key.
	asked := theyAsked - int64(len(present))
	require.Greater(t, asked, int64(4900), "few random keys are outside of the table's range")
	falsePositives := float64(asked-theyAbsent) / float64(asked)
	require.Greater(t, falsePositives, 0.005)
	require.Less(t, falsePositives, 0.02)
}

func TestCpp(t *testing.T) {
	program := buildCpp(t)
	for _, c := range []struct {
		name       string
		bitsPerKey float64
		baseLg     int
	}{
		{policy.Name, 10, 11},
		{policy.Name, 9.5, 13},
		{policy.NameGoLevelDB, 10, 13},
	} {
		t.Run(
			fmt.Sprintf("reads ours, %s, %v bits, base %d", c.name, c.bitsPerKey, c.baseLg),
			func(t *testing.T) {
				dir := t.TempDir()
				p := bloom(t, c.bitsPerKey, policy.WithName(c.name))
				db := open(t, dir, configured(t, &opt.Options{FilterBaseLg: c.baseLg}, p))
				content := entries{}
				content.fill(t, db, 14, 5000)
				content.put(t, db, nil, []byte("of the empty key"))
				require.NoError(t, db.CompactRange(util.Range{}))
				require.NoError(t, db.Close())
				program.requireSameAnswers(t, dir, c.name, content)
			},
		)
	}
	for _, name := range []string{policy.Name, policy.NameGoLevelDB} {
		t.Run("is read by us, "+name, func(t *testing.T) {
			content := entries{"": "of the empty key"}
			for i, key := range policytest.Keys(policytest.Rand(t, 15), 5000) {
				content[string(key)] = fmt.Sprint("value ", i)
			}
			dir := filepath.Join(t.TempDir(), "db")
			program.write(t, dir, name, 10, content)
			program.requireSameAnswers(t, dir, name, content)
		})
	}
}
