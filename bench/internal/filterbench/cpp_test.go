package filterbench

import (
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

func startedCPP(t *testing.T, program string, bits int) *CPP {
	c, err := StartCPP("cpp", program, bits)
	require.NoError(t, err)
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
		for _, n := range []int{1, 1000, 5000, 0} {
			keys := cppKeys(rand.New(rand.NewPCG(1, uint64(n))), n)
			require.NoError(t, c.SetKeys(keys))
			for _, each := range []int{1, 7, 1000, 1_000_000} {
				want := cppFilters(t, float64(bits), each, keys)
				got, err := c.BuildFilters(each)
				require.NoError(t, err)
				require.Equal(t, want, got, "%d keys, a filter of every %d", n, each)

				start := time.Now()
				d, err := c.Build(each)
				require.NoError(t, err)
				require.Positive(t, d)
				require.Less(t, d, time.Since(start))
			}
		}
	}
}

func TestCPPAnswers(t *testing.T) {
	c := startedCPP(t, buildCPP(t), 10)
	rng := rand.New(rand.NewPCG(2, 2))
	keys := cppKeys(rng, 3000)
	filters := cppFilters(t, 10, 100, keys)
	others := cppFilters(t, 1, 1000, keys) // another setting, many false positives
	filters = append(append(filters, others...), nil, []byte{6}, []byte{0, 0, 31})
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
		require.NoError(t,
			c.SetQueries(&Queries{Filters: filters, Copies: copies, Index: index, Keys: queries}))
		got, err := c.Answers()
		require.NoError(t, err)
		require.Equal(t, want, got)
		start := time.Now()
		d, n, err := c.Lookup(1000)
		require.NoError(t, err)
		require.Equal(t, matches, n, "%d copies", copies)
		require.Positive(t, d)
		require.Less(t, d, time.Since(start))
	}

	require.NoError(t, c.SetQueries(&Queries{Copies: 1}))
	got, err := c.Answers()
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestCPPFaults(t *testing.T) {
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
		{"too large a number", func(c *CPP) error { return c.tell("bits 3000000000") },
			"0 or more: 3000000000"},
		{"too small a number", func(c *CPP) error { _, _, err := c.Lookup(-1); return err },
			"lookup -1 1: exit status 1: "},
		{"no copy", func(c *CPP) error { return c.SetQueries(&Queries{Filters: [][]byte{{0, 1}}}) },
			"filters 0 1: exit status 1: speed: line 3: "},
		{"no keys in a filter", func(c *CPP) error { _, err := c.BuildFilters(0); return err },
			"filtersof 0: exit status 1: "},
		{"no such filter", func(c *CPP) error {
			q := &Queries{Copies: 1, Index: []uint32{0}, Keys: [][]byte{nil}}
			if err := c.SetQueries(q); err != nil {
				return err
			}
			_, _, err := c.Lookup(0)
			return err
		}, "lookup 0 1: exit status 1: speed: line 5: there is no filter 0"},
		{"no filter named", func(c *CPP) error {
			if err := c.tell("queries 1", []byte("abc")); err != nil {
				return err
			}
			_, err := c.ask("answers")
			return err
		}, "a query names no filter"},
		{"killed", func(c *CPP) error {
			if err := c.child.Process.Kill(); err != nil {
				return err
			}
			_, err := c.Build(1)
			return err
		}, "build 1 1: signal: killed"},
		{"ended early", func(c *CPP) error { c.stdin.Close(); return c.tell("version") },
			"version: it ended without a reply: "},
		{"closed", func(c *CPP) error { require.NoError(t, c.Close()); return c.tell("version") },
			"version: it is closed"},
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
		{"refusing bits", "echo C++ LevelDB 0; echo no; cat >/dev/null",
			`bits 10: unexpected reply "no"`},
	} {
		t.Run(f.name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "program")
			require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"+f.script+"\n"), 0o700))
			_, err := StartCPP("cpp", program, 10)
			require.ErrorContains(t, err, program+": ")
			require.ErrorContains(t, err, f.want)
		})
	}
	_, err := StartCPP("cpp", "no/such/program", 10)
	require.ErrorContains(t, err, "no/such/program: ")
	require.ErrorContains(t, err, "build C++ LevelDB's contestant: make -C testdata/leveldb "+
		"build/speed")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A filter list that ends early is an error.
func TestCPPShortReply(t *testing.T) {
	for _, reply := range []string{"1", `1\n\003\000`, `1\n\003\000\000\000ab`} {
		program := filepath.Join(t.TempDir(), "program")
		script := "#!/bin/sh\nread a; echo C++ LevelDB 0; read a; echo ok; read a; printf '" +
			reply + "'\n"
		require.NoError(t, os.WriteFile(program, []byte(script), 0o700))
		c, err := StartCPP("cpp", program, 10)
		require.NoError(t, err)
		_, err = c.BuildFilters(1)
		require.ErrorContains(t, err, program+": filtersof 1: it ended without a reply: ")
	}
}
