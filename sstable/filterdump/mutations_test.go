package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

var (
	mutations = flag.Int("mutations", 200, "how many damaged databases TestMutations makes")
	seed      = flag.Uint64("seed", 1, "of TestMutations")
)

// A database that filterdump calls sound has, for its engine, what was written to it. The tables
// and what names them are damaged in one place, as disks, repairs and copies by hand damage them;
// never the log, which filterdump does not read. No run changes a file.
func TestMutations(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 0))
	var databases []*original
	for engine := range openers {
		for _, p := range []*policy.Policy{
			testkit.Must(policy.NewBloom(10)), testkit.Must(policy.NewRibbon(10)),
		} {
			databases = append(databases, newOriginal(t, engine, p))
		}
	}
	slices.SortFunc(databases, func(a, b *original) int {
		return strings.Compare(a.name(), b.name())
	})
	statuses := map[int]int{}
	for i := range *mutations {
		d := databases[rng.IntN(len(databases))]
		other := databases[rng.IntN(len(databases))]
		dir := filepath.Join(t.TempDir(), "db")
		require.NoError(t, os.CopyFS(dir, os.DirFS(d.dir)))
		what := mutate(t, rng, dir, other.dir)
		before := snapshot(t, dir)
		args := []string{"--verify", dir}
		if i%10 == 0 {
			args = args[1:]
		}
		status, out, stderr := filterdump(t, args...)
		where := fmt.Sprintf("-seed %d, database %d, %s: %s\n%s",
			*seed, i, d.name(), what, out+stderr)
		require.Equal(t, before, snapshot(t, dir), where)
		require.Contains(t, []int{exitSound, exitFault, exitCannotRun}, status, where)
		statuses[status]++
		if status == exitSound && !strings.HasSuffix(what, mayPass) {
			contents, err := d.contents(dir)
			require.NoError(t, err, where)
			require.Equal(t, d.want, contents, where)
		}
		require.NoError(t, os.RemoveAll(dir))
	}
	t.Logf("databases by status: %v", statuses)
}

// An original is a sound database, and what is in it.
type original struct {
	engine string
	policy *policy.Policy
	dir    string
	want   string
}

func (d *original) name() string { return d.engine + " " + d.policy.String() }

func newOriginal(t *testing.T, engine string, p *policy.Policy) *original {
	d := &original{engine: engine, policy: p, dir: filepath.Join(t.TempDir(), "db")}
	s, err := openers[engine](d.dir, p, still)
	require.NoError(t, err)
	value := make([]byte, 100) // tables of one length, in turn, in part of the same keys
	for i := range 6000 {
		require.NoError(t, s.put(fmt.Appendf(nil, "key%09d", i*7%5000), value))
		if i%1000 == 999 {
			require.NoError(t, s.flush())
		}
	}
	require.NoError(t, s.close())
	d.want, err = d.contents(d.dir)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(d.want, "5000 found, "), d.want)
	return d
}

// contents returns what the engine finds in dir with its filters: by lookups of all keys, and by an
// iteration.
func (d *original) contents(dir string) (contents string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	s, err := openers[d.engine](dir, d.policy, readOnly)
	if err != nil {
		return "", err
	}
	found, sum := 0, sha256.New()
	for i := range 5000 {
		if ok, err := s.has(fmt.Appendf(nil, "key%09d", i)); ok && err == nil {
			found++
		}
	}
	err = s.each(func(key, value []byte) { fmt.Fprintf(sum, "%q %q\n", key, value) })
	return fmt.Sprintf("%d found, %x", found, sum.Sum(nil)), errors.Join(err, s.close())
}

// mayPass ends the description of a mutation after which a database may be called sound, although
// it has lost something: a manifest that ends before it did is one in use, whose end comes later.
const mayPass = " (may pass)"

// list returns the paths of the files with an extension that filterdump reads, or of all.
func list(t *testing.T, dir, ext string) (paths []string) {
	read := regexp.MustCompile(`^(CURRENT|MANIFEST-\d+|marker\..*|\d{6}\.(ldb|sst))$`)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if read.MatchString(e.Name()) && strings.HasSuffix(e.Name(), ext) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

// mutate damages a database in one place, and says how.
func mutate(t *testing.T, rng *rand.Rand, dir, other string) (what string) {
	pick := func(paths []string) string { return paths[rng.IntN(len(paths))] }
	read := func(path string) []byte {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		return b
	}
	rename := func(from, to string) { require.NoError(t, os.Rename(from, to)) }
	tables := append(list(t, dir, ".ldb"), list(t, dir, ".sst")...)
	path, table, another := pick(list(t, dir, "")), pick(tables), pick(tables)
	if rng.IntN(2) == 0 {
		path = table
	}
	b := read(path)
	if len(b) == 0 { // a marker
		path, b = table, read(table)
	}
	at := rng.IntN(len(b))
	n, page := 1+rng.IntN(len(b)-at), at&^511
	kind := rng.IntN(15)
	defer func() {
		what = fmt.Sprintf("kind %d, %s and %s; %s at %d", kind, table, another, path, at)
		if strings.Contains(filepath.Base(path), "MANIFEST-") && kind < 5 { // its end may be damaged
			what += mayPass
		}
	}()
	switch kind {
	case 0: // random bytes
		for i := range b[at : at+min(n, 64)] {
			b[at+i] = byte(rng.Uint32())
		}
	case 1: // a page of zeros
		clear(b[page:min(len(b), page+4096)])
	case 2: // cut
		b = b[:at]
	case 3: // a page of another place
		copy(b[page:], bytes.Clone(b[rng.IntN(len(b)):]))
	case 4: // shifted
		b = slices.Delete(b, at, min(len(b), at+n%16))
	case 5, 6:
		b[at] ^= 1 << rng.IntN(8)
	case 7: // longer
		b = append(b, bytes.Repeat([]byte{byte(rng.IntN(2) * 255)}, 1+rng.IntN(9000))...)
	case 8: // gone
		require.NoError(t, os.Remove(path))
		return
	case 9: // two tables change places
		rename(table, table+"x")
		if table != another {
			rename(another, table)
		}
		rename(table+"x", another)
		return
	case 10: // a table of another database, or another one of this
		path, b = table, read(pick(append(list(t, other, filepath.Ext(table)), another)))
	case 11, 12: // a table under another name, beside a damaged one or alone
		stem := strings.TrimSuffix(table, filepath.Ext(table))
		short := filepath.Join(dir, strings.TrimLeft(filepath.Base(stem), "0"))
		name := pick([]string{stem + ".sst", stem + ".ldb", short + ".ldb", short + ".sst"})
		path, b = table, read(table)
		require.NoError(t, os.WriteFile(name, b, 0o600))
		if b[at%len(b)] ^= 1; kind == 12 && name != table {
			require.NoError(t, os.Remove(table))
			return
		}
	case 13: // not a file
		require.NoError(t, os.Remove(path))
		if rng.IntN(2) == 0 {
			require.NoError(t, os.Mkdir(path, 0o700))
		} else {
			require.NoError(t, syscall.Mkfifo(path, 0o600))
		}
		return
	case 14: // what CURRENT names
		path, b = filepath.Join(dir, "CURRENT"), []byte(pick([]string{"", "MANIFEST-000001\n",
			"MANIFEST-999999\n", "../x\n", "\xff\x00\n", "MANIFEST-000001"}))
	}
	require.NoError(t, os.WriteFile(path, b, 0o600))
	return
}
