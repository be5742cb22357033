package goleveldb_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// Readers that know LevelDB's encoding alone, goleveldb's own filter and C++ LevelDB, lose no key
// by filters of any kind, under both names, for a window of 2 KiB or a whole table. They answer as
// ours for Bloom filters, also those that C++ LevelDB wrote. With the policy of testdata/cppreader
// it answers as ours for all.
func TestOldReaders(t *testing.T) {
	program, missing := buildCpp(t)
	all := testkit.Keys(testkit.Rand(t, 61), 10_000)
	content, absent := map[string]string{"": "of the empty key"}, all[5000:]
	for i, key := range all[:5000] {
		content[string(key)] = fmt.Sprint("value ", i)
	}
	for i, name := range []string{policy.NameLevelDB, policy.NameGoLevelDB} {
		for j, writer := range []string{"bloom", "ribbon", "C++"} {
			t.Run(writer+", "+name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "db") // one table, which nobody compacts
				switch {
				case writer != "C++":
					p := enginetest.Kind(writer).MustNew(10, name)
					writeTable(t, dir, content,
						&opt.Options{Filter: goleveldb.New(p), FilterBaseLg: []int{11, 21}[(i+j)%2]})
				case missing != "":
					t.Skip(missing)
				default:
					var lines bytes.Buffer
					for key, value := range content {
						fmt.Fprintf(&lines, "%x %x\n", key, value)
					}
					program.run(t, lines.Bytes(), "write", dir, name, "10")
				}
				// Reading needs no setting: 1 bit per key reads all.
				ours := lookUp(t, dir, content, absent,
					configured(t, nil, bloom(t, 1, policy.WithName(name))))
				theirs := lookUp(t, dir, content, absent,
					&opt.Options{Filter: renamed{filter.NewBloomFilter(10), name}})
				require.Greater(t, ours.Absent, uint64(4800))
				if writer == "ribbon" {
					require.Equal(t, policy.Counters{MayContain: enginetest.Checks(ours)}, theirs)
				} else {
					require.Equal(t, ours, theirs)
				}
				if missing != "" {
					t.Log(missing)
					return
				}
				program.lookUp(t, dir, name, content, absent, theirs)
				program.lookUp(t, dir, name, content, absent, ours, "ours")
			})
		}
	}
}

// writeTable writes a database of one table.
func writeTable(t *testing.T, dir string, content map[string]string, o *opt.Options) {
	db := open(t, dir, o)
	for key, value := range content {
		require.NoError(t, db.Put([]byte(key), []byte(value), nil))
	}
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())
}

// renamed is a filter under another name.
type renamed struct {
	filter.Filter
	name string
}

func (r renamed) Name() string { return r.name }

// lookUp requires that a database has the content, whose keys are all looked up by filters, and not
// the absent keys. It returns what filters answered for these.
func lookUp(t *testing.T, dir string, content map[string]string, absent [][]byte, o *opt.Options,
) policy.Counters {
	var w enginetest.Watch
	watch(o, &w)
	o.ReadOnly = true
	db := open(t, dir, o)
	for key, value := range content {
		got, err := db.Get([]byte(key), nil)
		require.NoError(t, err)
		require.Equal(t, value, string(got))
	}
	require.Equal(t, policy.Counters{MayContain: uint64(len(content))}, enginetest.Sum(w.Take()))
	requireAbsent(t, db, absent)
	require.NoError(t, db.Close())
	return enginetest.Sum(w.Take())
}

// requireAbsent requires that a database has none of the keys.
func requireAbsent(t testing.TB, db *leveldb.DB, keys [][]byte) {
	for _, key := range keys {
		_, err := db.Get(key, nil)
		require.ErrorIs(t, err, leveldb.ErrNotFound, "key %x", key)
	}
}

// cpp is the program that reads and writes databases with C++ LevelDB; the README beside its source
// has the commands.
type cpp string

// buildCpp builds the program. If that is not possible, it says why, or fails if
// LEVELBLOOM_REQUIRE_CPP=1.
func buildCpp(t *testing.T) (program cpp, missing string) {
	if testing.Short() {
		return "", "-short does not start C++ LevelDB"
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "database")
	out, err := exec.Command(
		"make", "-C", "../../testdata/leveldb", "CXX=g++", "BUILD="+dir, path).CombinedOutput()
	if err == nil {
		return cpp(path), ""
	}
	missing = fmt.Sprintf("to compare with C++ LevelDB, install "+
		"g++ make libleveldb-dev libxxhash-dev (on Debian): %v\n%s", err, out)
	if os.Getenv("LEVELBLOOM_REQUIRE_CPP") == "1" {
		t.Fatal(missing)
	}
	return "", missing
}

// run runs the program with lines as input and returns its output.
func (c cpp) run(t *testing.T, lines []byte, args ...string) string {
	cmd := exec.Command(string(c), args...)
	var out, fault bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(lines), &out, &fault
	require.NoError(t, cmd.Run(), "%s", &fault)
	return out.String()
}

// lookUp requires that the program finds the content and not the absent keys, and that filters
// answer so for these: with LevelDB's own reader of filters or, if more is "ours", with that of
// testdata/cppreader. It may change the database.
func (c cpp) lookUp(t *testing.T, dir, name string, content map[string]string, absent [][]byte,
	answers policy.Counters, more ...string) {
	var lines, want strings.Builder
	for _, key := range absent {
		fmt.Fprintf(&lines, "%x\n", key)
		fmt.Fprintf(&want, "%x\tabsent\n", key)
	}
	for key, value := range content {
		fmt.Fprintf(&lines, "%x\n", key)
		fmt.Fprintf(&want, "%x\tfound\t%x\n", key, value)
	}
	fmt.Fprintf(&want, "checks=%d absent=%d\n",
		enginetest.Checks(answers)+uint64(len(content)), answers.Absent)
	args := append([]string{"read", dir, name}, more...)
	require.Equal(t, want.String(), c.run(t, []byte(lines.String()), args...))
}
