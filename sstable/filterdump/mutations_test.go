package main

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

var (
	mutations = flag.Int("mutations", 60, "how many damaged databases TestMutations makes")
	seed      = flag.Uint64("seed", 1, "of TestMutations")
)

// A database that filterdump calls sound has, for its engine, what was written to it. The tables
// and what names them are damaged in one place, as disks, repairs and copies by hand damage them;
// never the log, which filterdump does not read. No run changes a file.
func TestMutations(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 0))
	engines, sound := slices.Sorted(maps.Keys(openers)), t.TempDir()
	for _, engine := range engines {
		dir := filepath.Join(sound, engine)
		s, err := openers[engine](dir, testkit.Must(policy.NewRibbon(10)), still)
		require.NoError(t, err)
		value := make([]byte, 100) // tables of one length, in turn, in part of the same keys
		for i := range 6000 {
			require.NoError(t, s.put(fmt.Appendf(nil, "key%09d", i*7%5000), value))
			if i%1000 == 999 {
				require.NoError(t, s.flush())
			}
		}
		require.NoError(t, s.close())
		require.Equal(t, 5000, found(engine, dir))
	}
	statuses := map[int]int{}
	for i := range *mutations {
		engine, dir := engines[i%len(engines)], filepath.Join(t.TempDir(), "db")
		require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(sound, engine))))
		what, mayPass := mutate(t, rng, dir)
		before := snapshot(t, dir)
		args := []string{"--verify", dir}
		if i%10 == 0 {
			args = args[1:]
		}
		status, out, stderr := filterdump(t, args...)
		where := fmt.Sprintf("-seed %d, database %d, %s: %s\n%s", *seed, i, engine, what, out+stderr)
		require.Equal(t, before, snapshot(t, dir), where)
		require.Contains(t, []int{exitSound, exitFault, exitCannotRun}, status, where)
		statuses[status]++
		if status == exitSound && !mayPass {
			require.Equal(t, 5000, found(engine, dir), where)
		}
		require.NoError(t, os.RemoveAll(dir))
	}
	t.Logf("databases by status: %v", statuses)
}

// found returns how many of the keys the engine finds by its filters, until it fails.
func found(engine, dir string) (n int) {
	defer func() { _ = recover() }()
	s, err := openers[engine](dir, testkit.Must(policy.NewRibbon(10)), readOnly)
	if err != nil {
		return 0
	}
	defer s.close()
	for i := range 5000 {
		if ok, err := s.has(fmt.Appendf(nil, "key%09d", i)); ok && err == nil {
			n++
		}
	}
	return n
}

// mutate damages a database in one place, and says how. It may be called sound nevertheless if its
// manifest ends before it did: one in use ends later.
func mutate(t *testing.T, rng *rand.Rand, dir string) (what string, mayPass bool) {
	list := func(pattern string) []string {
		return testkit.Must(filepath.Glob(filepath.Join(dir, pattern)))
	}
	pick := func(paths []string) string { return paths[rng.IntN(len(paths))] }
	tables := append(list("*.ldb"), list("*.sst")...)
	path, another := pick(tables), pick(tables)
	if rng.IntN(2) == 0 {
		path = pick(slices.Concat(list("MANIFEST-*"), list("CURRENT"), list("OPTIONS-*"),
			list("marker.*")))
	}
	b := testkit.Must(os.ReadFile(path))
	at, kind := rng.IntN(max(1, len(b))), rng.IntN(9)
	if len(b) == 0 {
		kind = 7 // a marker
	}
	what = fmt.Sprintf("kind %d at %d of %s", kind, at, path)
	switch kind {
	case 0: // random bytes
		for i := range b[at:min(at+64, len(b))] {
			b[at+i] = byte(rng.Uint32())
		}
	case 1: // a page of zeros
		clear(b[at&^511 : min(len(b), at&^511+4096)])
	case 2: // cut
		b = b[:at]
	case 3, 4:
		b[at] ^= 1 << rng.IntN(8)
	case 5: // longer
		b = append(b, bytes.Repeat([]byte{byte(rng.IntN(2) * 255)}, 1+rng.IntN(9000))...)
	case 6: // another table's bytes
		b = testkit.Must(os.ReadFile(another))
	case 7: // gone
		require.NoError(t, os.Remove(path))
		return what, false
	case 8: // a table under another name, beside a damaged one
		stem := strings.TrimSuffix(another, filepath.Ext(another))
		short := filepath.Join(dir, strings.TrimLeft(filepath.Base(stem), "0"))
		name := pick([]string{stem + ".sst", stem + ".ldb", short + ".ldb", short + ".sst"})
		path, b = another, testkit.Must(os.ReadFile(another))
		require.NoError(t, os.WriteFile(name, b, 0o600))
		b[at%len(b)] ^= 1
	}
	require.NoError(t, os.WriteFile(path, b, 0o600))
	return what, kind < 3 && strings.Contains(path, "MANIFEST-")
}
