package filterbench

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// builtCPP is the program, which TestMain removes.
var builtCPP struct {
	once         sync.Once
	dir, message string
}

func TestMain(m *testing.M) {
	status := m.Run()
	os.RemoveAll(builtCPP.dir)
	os.Exit(status)
}

// buildCPP builds the program once, or skips the test where that is not possible, which
// LEVELBLOOM_REQUIRE_CPP=1 forbids.
func buildCPP(t *testing.T) (program string) {
	if missing := missingForCPP(); missing != "" {
		message := missing + ": on Debian, apt-get install g++ make libleveldb-dev, to compare " +
			"with C++ LevelDB"
		if os.Getenv("LEVELBLOOM_REQUIRE_CPP") == "1" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	b := &builtCPP
	b.once.Do(func() {
		var err error
		if b.dir, err = os.MkdirTemp("", "levelbloom-test-"); err != nil {
			b.message = err.Error()
			return
		}
		build := exec.Command("make", "-C", "../../../testdata/leveldb", "CXX=g++", "BUILD="+b.dir,
			filepath.Join(b.dir, "speed"))
		if out, err := build.CombinedOutput(); err != nil {
			b.message = err.Error() + ": " + string(out)
		}
	})
	require.Empty(t, b.message)
	return filepath.Join(b.dir, "speed")
}

// startedCPP starts the program. At the end of the test nothing is left of it.
func startedCPP(t *testing.T, program string, bits int) *CPP {
	temp := emptyTempDir(t)
	c, err := StartCPP("cpp", program, bits)
	require.NoError(t, err)
	require.DirExists(t, c.dir)
	require.Equal(t, temp, filepath.Dir(c.dir))
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// missingForCPP says what the build lacks, or nothing.
func missingForCPP() string {
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

// emptyTempDir makes a new directory the one for temporary files. At the end of the test nothing
// may be left in it.
func emptyTempDir(t *testing.T) string {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() { requireEmptyDir(t, dir) })
	return dir
}

func requireEmptyDir(t *testing.T, dir string) {
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// cppKeys returns n keys of 0 to 40 bytes.
func cppKeys(rng *rand.Rand, n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = make([]byte, rng.IntN(41))
		for j := range keys[i] {
			keys[i][j] = byte(rng.Uint32())
		}
	}
	return keys
}

// cppFilters returns the filters of every each keys.
func cppFilters(t *testing.T, bits float64, each int, keys [][]byte) (filters [][]byte) {
	p, err := policy.NewBloom(bits)
	require.NoError(t, err)
	for chunk := range slices.Chunk(keys, each) {
		filters = append(filters, p.AppendFilter(nil, chunk))
	}
	return filters
}

func TestCPPBuilds(t *testing.T) {
	program := buildCPP(t)
	for _, bits := range []int{10, 16} {
		c := startedCPP(t, program, bits)
		require.Regexp(t, `^\d+\.\d+ \(-lleveldb\), the loop by g\+\+ .* -O3$`, c.Version())
		for _, n := range []int{1, 1000, 20_000, 0} {
			keys := cppKeys(rand.New(rand.NewPCG(1, uint64(n))), n)
			require.NoError(t, c.SetKeys(keys))
			for _, each := range []int{1, 7, 1000, 1_000_000} {
				want := cppFilters(t, float64(bits), each, keys)
				got, err := c.BuildFilters(each)
				require.NoError(t, err)
				require.Equal(t, want, got, "%d keys, a filter of every %d", n, each)

				for _, repeat := range []int{1, 3} {
					start := time.Now()
					total, err := c.Build(each, repeat)
					require.NoError(t, err)
					require.Positive(t, total)
					require.Less(t, total, time.Since(start))
				}
			}
		}
		requireEmptyDir(t, c.dir)
	}
}

func TestCPPAnswers(t *testing.T) {
	c := startedCPP(t, buildCPP(t), 10)
	rng := rand.New(rand.NewPCG(2, 2))
	keys := cppKeys(rng, 3000)
	filters := cppFilters(t, 10, 100, keys)
	filters = append(
		filters,
		cppFilters(t, 1, 1000, keys)...) // another setting, many false positives
	filters = append(filters, nil, []byte{6}, []byte{0, 0, 31})
	var index []uint32
	var queries [][]byte
	var want []bool
	for _, key := range append(keys, cppKeys(rng, 3000)...) {
		i := rng.IntN(len(filters))
		index, queries = append(index, uint32(i)), append(queries, key)
		want = append(want, policy.MayContain(filters[i], key))
	}
	matches := 0
	for _, answer := range want {
		if answer {
			matches++
		}
	}
	require.Greater(t, matches, 500)

	for _, copies := range []int{1, 2, 30} {
		require.NoError(
			t,
			c.SetQueries(&Queries{Filters: filters, Copies: copies, Index: index, Keys: queries}),
		)
		got, err := c.Answers()
		require.NoError(t, err)
		require.Equal(t, want, got)
		for _, repeat := range []int{0, 1, 5} {
			start := time.Now()
			total, n, err := c.Lookup(1000, repeat)
			require.NoError(t, err)
			require.Equal(t, repeat*matches, n, "%d copies, %d times", copies, repeat)
			require.Less(t, total, time.Since(start))
		}
	}
	// Many passes take longer than one, the fastest of ten.
	once := time.Hour
	for range 10 {
		total, _, err := c.Lookup(0, 1)
		require.NoError(t, err)
		once = min(once, total)
	}
	often, _, err := c.Lookup(0, 200)
	require.NoError(t, err)
	require.Greater(t, often, 50*once)

	require.NoError(t, c.SetQueries(&Queries{Copies: 1}))
	got, err := c.Answers()
	require.NoError(t, err)
	require.Empty(t, got)

	requireEmptyDir(t, c.dir)
}

func TestCPPFaults(t *testing.T) {
	keysFile := func(content ...uint32) func(c *CPP) error {
		return func(c *CPP) error {
			var file []byte
			for _, n := range content {
				file = binary.LittleEndian.AppendUint32(file, n)
			}
			if err := os.WriteFile(filepath.Join(c.dir, "keys"), file, 0o600); err != nil {
				return err
			}
			return c.tell("keys keys")
		}
	}
	program := buildCPP(t)
	for _, f := range []struct {
		name  string
		cause func(c *CPP) error
		want  string
	}{
		{"unknown command", func(c *CPP) error { return c.tell("frobnicate 1") },
			"frobnicate 1: exit status 1: speed: line 3: unknown command frobnicate"},
		{"too many words", func(c *CPP) error { return c.tell("bits 10 20") },
			"bits 10 20: exit status 1: speed: line 3: too many words: 20"},
		{"not a number", func(c *CPP) error { return c.tell("bits 1o") }, "want a whole number, " +
			"0 or more: 1o"},
		{"too large a number", func(c *CPP) error { return c.tell("bits 3000000000") }, "0 or more: 3000000000"},
		{"too small a number", func(c *CPP) error { _, _, err := c.Lookup(-1, 1); return err }, "lookup -1 1: exit status 1: "},
		{"no copy", func(c *CPP) error { return c.SetQueries(&Queries{Filters: [][]byte{{0, 1}}}) }, "copies 0: exit status 1: speed: " +
			"line 4: "},
		{"no keys in a filter", func(c *CPP) error { _, err := c.BuildFilters(0); return err }, "buildto 0 filters: exit status 1: "},
		{"no such filter", func(c *CPP) error {
			if err := c.SetQueries(&Queries{Copies: 1, Index: []uint32{0}, Keys: [][]byte{nil}}); err != nil {
				return err
			}
			_, _, err := c.Lookup(0, 1)
			return err
		}, "lookup 0 1: exit status 1: speed: line 6: there is no filter 0"},
		{"no file", func(c *CPP) error { return c.tell("keys none") }, "No such file or " +
			"directory [none]"},
		{"empty file", keysFile(), "shorter than it says"},
		{"short file", keysFile(2, 0), "shorter than it says"},
		{"short key", keysFile(1, 1), "shorter than it says"},
		{"long file", keysFile(1, 0, 0), "longer than it says"},
		{"killed", func(c *CPP) error {
			if err := c.child.Process.Kill(); err != nil {
				return err
			}
			_, err := c.Build(1, 1)
			return err
		}, "build 1 1: signal: killed"},
		{"ended early", func(c *CPP) error { c.stdin.Close(); return c.tell("version") }, "version: it ended without a reply: "},
		{"closed", func(c *CPP) error { require.NoError(t, c.Close()); return c.tell("version") }, "version: it is closed"},
	} {
		t.Run(f.name, func(t *testing.T) {
			c := startedCPP(t, program, 10)
			err := f.cause(c)
			require.ErrorContains(t, err, program+": ")
			require.ErrorContains(t, err, f.want)
			_, err = c.Answers()
			require.ErrorContains(t, err, program+": answers: ", "no later command works")
		})
	}
}

// Programs that are not ours are found out, and leave nothing behind either.
func TestCPPOtherPrograms(t *testing.T) {
	for _, f := range []struct{ name, script, want string }{
		{"silent", "exit 0", "version: it ended without a reply: "},
		{"failing", "echo no library >&2; exit 127", "version: exit status 127: no library"},
		{"echoing", "cat", `version: unexpected reply "version"`},
		{"endless", "yes", `version: unexpected reply "y"`},
		{"refusing bits", "echo C++ LevelDB 0; echo no; cat >/dev/null", `bits 10: unexpected reply "no"`},
	} {
		t.Run(f.name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "program")
			require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"+f.script+"\n"), 0o700))
			emptyTempDir(t)
			_, err := StartCPP("cpp", program, 10)
			require.ErrorContains(t, err, program+": ")
			require.ErrorContains(t, err, f.want)
		})
	}
	emptyTempDir(t)
	_, err := StartCPP("cpp", "no/such/program", 10)
	require.ErrorContains(t, err, "no/such/program: ")
	require.ErrorContains(t, err, "build C++ LevelDB's contestant: make -C testdata/leveldb "+
		"build/speed")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestSplitStrings(t *testing.T) {
	content := []byte("\x02\x00\x00\x00\x03\x00\x00\x00abc\x00\x00\x00\x00")
	strs, ok := splitStrings(content)
	require.True(t, ok)
	require.Equal(t, [][]byte{[]byte("abc"), {}}, strs)
	for n := range content {
		_, ok = splitStrings(content[:n])
		require.False(t, ok, "%d bytes", n)
	}
	_, ok = splitStrings(append(content, 0))
	require.False(t, ok)
}
