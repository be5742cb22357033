package filterbench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
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

// C++ LevelDB has the same matches as the others in all kinds of work, and builds the same bytes.
func TestRunWithCPP(t *testing.T) {
	cpp, err := NewCPP("cpp", buildCPP(t), 10)
	require.NoError(t, err)
	testRun(t, append(everyone(t), cpp))
	require.Regexp(t, `^\d+\.\d+ \(-lleveldb\), the loop by g\+\+ .* -O3$`,
		cpp.Version())
}

// Other bits per key are other filters, which the check shows.
func TestCPPDiffers(t *testing.T) {
	cpp, err := NewCPP("cpp", buildCPP(t), 11)
	require.NoError(t, err)
	for _, cell := range []Cell{{Lookup, 1000, 16, Miss}, {Build, 1000, 16, ""}} {
		_, err = config(append(everyone(t), cpp), 1, cell).Run(context.Background())
		require.ErrorIs(t, err, ErrWrong)
		require.ErrorContains(t, err, "cpp: ")
	}
}

// Programs that are not ours or that fail are found out.
func TestCPPFaults(t *testing.T) {
	for _, f := range []struct{ script, want string }{
		{"read a; exit 0", "it ended without a benchmark"},
		{"echo no library >&2; read a; exit 127", "exit status 127: no library"},
		{"cat >/dev/null & kill -9 $$", "signal: killed"},
		{"read a; echo BenchmarkX 1 1 ns/op", "pass a program that prints ns/op and check"},
		{"read a; echo BenchmarkX 1 y ns/op", "parsing"},
	} {
		t.Run(f.want, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "program")
			require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"+f.script+"\n"), 0o700))
			cpp, err := NewCPP("cpp", program, 10)
			require.NoError(t, err)
			_, err = config(append(everyone(t), cpp), 1, Cell{Build, 32, 16, ""}).Run(context.Background())
			require.ErrorContains(t, err, program)
			require.ErrorContains(t, err, f.want)
		})
	}
	_, err := NewCPP("cpp", "no/such/program", 10)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "build C++ LevelDB's contestant: make -C testdata/leveldb "+
		"build/speed")

	for _, args := range []string{"", "lookup hit 1 10 16 10 x", "lookup hit 0 10 16 10 0",
		"build - 1 9999999999 16 10 0", "lookup hit 1 10 7 10 0"} {
		out, err := exec.Command(buildCPP(t), strings.Fields(args)...).CombinedOutput()
		require.Error(t, err, args)
		require.Regexp(t, "^speed: want .*\n$", string(out), args)
	}
}
