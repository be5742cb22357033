package enginetest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// The databases of every release are in testdata/releases. The README there says what is frozen.

var newRelease = flag.String("release", "",
	"write the databases of this release, such as v0.1.0, which must not be there yet")

// A ReleaseEngine is an engine with which each release writes databases.
type ReleaseEngine struct {
	Name string
	// New returns the engine of the database in a directory, which may be empty.
	New func(t testing.TB, dir string) Engine
	// Settings are of the databases whose names begin with "name1" and with "name2".
	Settings [2]Setting
	// Properties returns what is frozen in the properties of the tables, in the order of the keys.
	Properties func(DB) ([]string, error)
}

// A release is the file release.json.
type release struct {
	Present, Absent [][]byte // keys. Those of the same first byte are in one table
	Databases       []released
}

// A released database has all keys in Present.
type released struct {
	Name       string // of its directory
	Policy     string // as policy.FromString takes it
	Properties []string
	Filters    []releasedFilter
}

// A releasedFilter is checked for some keys, present and absent ones, which follow those of the
// filter before in the order of all keys.
type releasedFilter struct {
	Filter  []byte
	Answers string // one for each key: '1' is "may contain"
}

// releases are all releases, with the number of databases that each wrote with each engine.
var releases = map[string]int{"v0.1.0": 6}

const (
	releaseDir   = "../../testdata/releases" // from the directory of an adapter
	releaseList  = "release.json"
	releaseValue = "v" // of all present keys
)

// Releases reads the databases of each release, and writes anew what is frozen. With flag -release
// it writes those of a new release first.
func (e ReleaseEngine) Releases(t *testing.T) {
	if *newRelease != "" {
		e.write(t, filepath.Join(releaseDir, *newRelease, e.Name))
	}
	found, err := filepath.Glob(filepath.Join(releaseDir, "v*"))
	require.NoError(t, err)
	require.Len(t, found, len(releases), "a release is missing, here or in the list of releases")
	for name, databases := range releases {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(releaseDir, name, e.Name)
			list, err := os.ReadFile(filepath.Join(dir, releaseList))
			require.NoError(t, err)
			var r release
			require.NoError(t, json.Unmarshal(list, &r))
			require.Equal(t, databases, len(r.Databases), "databases in "+releaseList)
			for _, d := range r.Databases {
				t.Run(d.Name, func(t *testing.T) { e.check(t, dir, r, d) })
			}
		})
	}
}

// check requires of a copy of a database that it is as d says, and writes what is frozen anew.
func (e ReleaseEngine) check(t *testing.T, dir string, r release, d released) {
	// Before v0.1.0 was published, WithTuning had a parameter.
	text := strings.Replace(d.Policy, "tuning=0.05", "tuned", 1)
	p, err := policy.FromString(text)
	require.NoError(t, err)
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(copied, os.DirFS(filepath.Join(dir, d.Name))))
	read := e.observe(t, e.New(t, copied), r, d.Name, p)
	require.Equal(t, text, read.Policy)
	d.Policy = text
	require.Equal(t, d, read)
	if !strings.Contains(text, ",tuned") { // whose sizes are not frozen
		today := e.fill(t, t.TempDir(), r, d.Name, p)
		require.Equal(t, d, today, "other bytes need another encoding byte")
	}
}

// write writes databases of every kind and name.
func (e ReleaseEngine) write(t *testing.T, dir string) {
	require.NoDirExists(t, dir, "the databases of a release never change")
	r := releaseKeys()
	for i, name := range []string{policy.NameGoLevelDB, policy.Name} {
		for _, spec := range []string{"bloom:10", "bloom:10,tuned", "ribbon:10"} {
			p, err := policy.FromString(spec, policy.WithName(name), policy.WithCounters())
			require.NoError(t, err)
			database := fmt.Sprintf("name%d_%s", i+1, strings.ReplaceAll(spec, ":10", ""))
			path := filepath.Join(dir, database)
			require.NoError(t, os.MkdirAll(path, 0o755))
			r.Databases = append(r.Databases, e.fill(t, path, r, database, p))
		}
	}
	for _, pattern := range []string{"LOG*", "LOCK", "*.log", "OPTIONS-*", "*.bak"} {
		surplus, err := filepath.Glob(filepath.Join(dir, "*", "*", pattern))
		require.NoError(t, err)
		for _, path := range surplus { // no engine needs them to open a database
			require.NoError(t, os.Remove(path))
		}
	}
	list, err := json.MarshalIndent(r, "", " ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, releaseList), append(list, '\n'), 0o644))
}

// releaseKeys returns a key, some dense numbers, and more keys than one shard of a ribbon filter
// has. A table begins and ends with present ones, so that absent ones are looked up in it.
func releaseKeys() (r release) {
	rng := rand.New(rand.NewSource(150))
	add := func(keys ...[]byte) {
		slices.SortFunc(keys, bytes.Compare)
		for i, key := range slices.CompactFunc(keys, bytes.Equal) {
			if i > 0 && i < len(keys)-1 && rng.Intn(7) == 0 {
				r.Absent = append(r.Absent, key)
			} else {
				r.Present = append(r.Present, key)
			}
		}
	}
	add([]byte("a"))
	var dense, random [][]byte
	for i := range 100 {
		dense = append(dense, fmt.Appendf(nil, "b%011d", i))
	}
	for _, key := range testkit.Keys(rng, 1090) {
		random = append(random, append([]byte("c"), key[:min(5, len(key))]...))
	}
	add(dense...)
	add(random...)
	return r
}

// setting is that of a database.
func (e ReleaseEngine) setting(database string, p *policy.Policy) Setting {
	s := e.Settings[1]
	if strings.HasPrefix(database, "name1") {
		s = e.Settings[0]
	}
	s.Policies, s.Still, s.Watch = []*policy.Policy{p}, true, new(Watch)
	return s
}

// fill makes a database in dir.
func (e ReleaseEngine) fill(
	t *testing.T, dir string, r release, database string, p *policy.Policy,
) released {
	engine := e.New(t, dir)
	db, err := engine.Open(e.setting(database, p))
	require.NoError(t, err)
	for i, key := range r.Present {
		require.NoError(t, db.Apply(0, []Change{{key, []byte(releaseValue)}}))
		if i+1 == len(r.Present) || key[0] != r.Present[i+1][0] {
			require.NoError(t, db.Flush())
		}
	}
	require.NoError(t, db.Close())
	return e.observe(t, engine, r, database, p)
}

// observe requires that a database has the content of r, looks up all keys, and returns the filters
// with their answers. The engine may change its files.
func (e ReleaseEngine) observe(
	t *testing.T, engine Engine, r release, database string, p *policy.Policy,
) released {
	s := e.setting(database, p)
	db, err := engine.Open(s)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	d := released{Name: database, Policy: fmt.Sprint(p)}
	d.Properties, err = e.Properties(db)
	require.NoError(t, err)
	var want []Entry
	for _, key := range r.Present {
		want = append(want, Entry{string(key), releaseValue})
	}
	content, err := db.Scan(nil, []byte("z"))
	require.NoError(t, err)
	require.Equal(t, want, content)
	for _, key := range slices.SortedFunc(
		slices.Values(slices.Concat(r.Present, r.Absent)), bytes.Compare) {
		answers := map[string]bool{} // by filter
		s.Watch.Saw = func(name string, filter []byte, answer bool) {
			if name == p.Name() {
				answers[string(filter)] = answer
			}
		}
		value, err := db.Find(key)
		require.NoError(t, err)
		_, present := slices.BinarySearchFunc(r.Present, key, bytes.Compare)
		require.Equal(t, present, value != nil, "key %x", key)
		require.Len(t, answers, 1, "key %x: filters", key)
		for filter, answer := range answers {
			d.note(filter, answer)
		}
	}
	return d
}

// note adds the answer for the next key.
func (d *released) note(filter string, answer bool) {
	if n := len(d.Filters); n == 0 || string(d.Filters[n-1].Filter) != filter {
		d.Filters = append(d.Filters, releasedFilter{Filter: []byte(filter)})
	}
	digit := "0"
	if answer {
		digit = "1"
	}
	d.Filters[len(d.Filters)-1].Answers += digit
}
