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
// it has lost something: a manifest that ends before it did is one in use, whose end is not written.
const mayPass = " (may pass)"

// readByFilterdump are the files that are damaged.
var readByFilterdump = regexp.MustCompile(`^(CURRENT|MANIFEST-\d+|marker\..*|\d{6}\.(ldb|sst))$`)

// mutate damages a database in one place, and says how.
func mutate(t *testing.T, rng *rand.Rand, dir, other string) string {
	list := func(dir, ext string) (paths []string) {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			if readByFilterdump.MatchString(e.Name()) && strings.HasSuffix(e.Name(), ext) {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
		return paths
	}
	pick := func(paths []string) string { return paths[rng.IntN(len(paths))] }
	tables := list(dir, ".ldb")
	tables = append(tables, list(dir, ".sst")...)
	path, table, another := pick(list(dir, "")), pick(tables), pick(tables)
	if rng.IntN(2) == 0 {
		path = table
	}
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	at, n := 0, 0
	if len(b) > 0 {
		at = rng.IntN(len(b))
		n = 1 + rng.IntN(len(b)-at)
	}
	page := at &^ 511
	isManifest := strings.Contains(filepath.Base(path), "MANIFEST-") && len(b) > 0
	passes := ""
	switch kind := rng.IntN(17); kind {
	case 0, 1:
		if len(b) > 0 {
			b[at] ^= 1 << rng.IntN(8)
		}
	case 2: // random bytes
		for i := range b[at : at+min(n, 64)] {
			b[at+i] = byte(rng.Uint32())
		}
		if isManifest {
			passes = mayPass // likewise
		}
	case 3: // a page of zeros
		clear(b[page:min(len(b), page+4096)])
		if isManifest && page+4096 >= len(b) {
			passes = mayPass
		}
	case 4: // cut
		b = b[:at]
		if isManifest {
			passes = mayPass
		}
	case 5:
		b = nil
	case 6: // longer
		b = append(b, bytes.Repeat([]byte{byte(rng.IntN(2) * 255)}, 1+rng.IntN(9000))...)
	case 7: // a page of another place
		if len(b) > 0 {
			copy(b[page:], bytes.Clone(b[rng.IntN(len(b)):]))
		}
		if isManifest {
			passes = mayPass // likewise
		}
	case 8: // shifted
		b = slices.Delete(b, at, min(len(b), at+n%16))
		if isManifest {
			passes = mayPass // if only the last chunk is damaged
		}
	case 9: // gone
		require.NoError(t, os.Remove(path))
		return "removed " + path
	case 10: // two tables change places
		require.NoError(t, os.Rename(table, table+"x"))
		if table != another {
			require.NoError(t, os.Rename(another, table))
		}
		require.NoError(t, os.Rename(table+"x", another))
		return fmt.Sprintf("swapped %s and %s", table, another)
	case 11: // a table of another database
		foreign := list(other, filepath.Ext(table))
		if len(foreign) == 0 {
			return "nothing"
		}
		b, err = os.ReadFile(pick(foreign))
		require.NoError(t, err)
		path = table
	case 12, 13: // a table under another name, beside a damaged one
		stem := strings.TrimSuffix(table, filepath.Ext(table))
		short := filepath.Join(dir, strings.TrimLeft(filepath.Base(stem), "0"))
		name := []string{stem + ".sst", stem + ".ldb", short + ".ldb", short + ".sst",
			filepath.Join(dir, "0"+filepath.Base(table))}[rng.IntN(5)]
		b, err = os.ReadFile(table)
		require.NoError(t, err)
		if name == table {
			return "nothing"
		}
		require.NoError(t, os.WriteFile(name, b, 0o600))
		if kind == 12 {
			b[rng.IntN(len(b))] ^= 1
			path = table
		} else {
			require.NoError(t, os.Remove(table))
			return fmt.Sprintf("%s is now %s", table, name)
		}
	case 14: // not a file
		require.NoError(t, os.Remove(path))
		if rng.IntN(2) == 0 {
			require.NoError(t, os.Mkdir(path, 0o700))
		} else {
			require.NoError(t, syscall.Mkfifo(path, 0o600))
		}
		return "no file any more: " + path
	case 15: // what CURRENT names
		path, b = filepath.Join(dir, "CURRENT"), []byte([]string{"", "MANIFEST-000001\n",
			"MANIFEST-999999\n", "../x\n", "\xff\x00\n", "MANIFEST-000001"}[rng.IntN(6)])
	case 16: // a table twice
		b, err = os.ReadFile(another)
		require.NoError(t, err)
		path = table
	}
	require.NoError(t, os.WriteFile(path, b, 0o600))
	return fmt.Sprintf("%s at %d, of %d bytes, another: %s%s", path, at, len(b), another, passes)
}
