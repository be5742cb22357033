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

// The databases of every release are in testdata/releases. What is frozen of filters' bytes, the
// vectors in testdata have.

var newRelease = flag.String("release", "",
	"write the databases of this release, such as v0.1.0, which must not be there yet")

// A ReleaseEngine is an engine with which each release writes databases.
type ReleaseEngine struct {
	Name string
	// New returns the engine of the database in a directory, which may be empty.
	New func(t testing.TB, dir string) Engine
	// Settings are of the databases whose names begin with "name1" and with "name2".
	Settings [2]Setting
}

// releases are all releases, with the number of databases that each wrote with each engine.
var releases = map[string]int{"v0.1.0": 6}

const releaseDir = "../../testdata/releases" // from the directory of an adapter

// releasedKeys is the file keys.json. A database has all keys in Present, with an empty value.
type releasedKeys struct{ Present, Absent [][]byte }

// Releases looks the keys of each release's databases up. With flag -release it writes those of a
// new release first.
func (e ReleaseEngine) Releases(t *testing.T) {
	if *newRelease != "" {
		e.write(t, filepath.Join(releaseDir, *newRelease, e.Name))
	}
	found, err := filepath.Glob(filepath.Join(releaseDir, "v*"))
	require.NoError(t, err)
	require.Len(t, found, len(releases), "a release is missing, here or in the list of releases")
	for name, databases := range releases {
		dir := filepath.Join(releaseDir, name, e.Name)
		text, err := os.ReadFile(filepath.Join(dir, "keys.json"))
		require.NoError(t, err)
		var keys releasedKeys
		require.NoError(t, json.Unmarshal(text, &keys))
		all, err := filepath.Glob(filepath.Join(dir, "name*"))
		require.NoError(t, err)
		require.Len(t, all, databases)
		for _, database := range all {
			t.Run(name+" "+filepath.Base(database), func(t *testing.T) { e.check(t, database, keys) })
		}
	}
}

// check looks keys up in a copy of a database: its filters are consulted, and avoid reads.
func (e ReleaseEngine) check(t *testing.T, database string, keys releasedKeys) {
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(copied, os.DirFS(database)))
	s, p := e.setting(t, filepath.Base(database))
	s.Watch = new(Watch)
	db := open(t, e.New(t, copied), s)
	content, err := db.Scan(nil, []byte("z"))
	require.NoError(t, err)
	require.Len(t, content, len(keys.Present))
	for i, key := range slices.Concat(keys.Present, keys.Absent) {
		value, err := db.Find(key)
		require.NoError(t, err)
		require.Equal(t, i < len(keys.Present), value != nil, "key %x", key)
	}
	answers := s.Watch.Take()
	require.Len(t, answers, 1, "filters of one name and encoding")
	require.Greater(t, answers[labelOf(p.Name(), p.AppendFilter(nil, keys.Present[:1]))].Absent,
		uint64(len(keys.Absent)*3/4))
	require.NoError(t, db.Close())
}

// setting is that of a database, whose name is as "name1_bloom".
func (e ReleaseEngine) setting(t testing.TB, database string) (Setting, *policy.Policy) {
	s, name := e.Settings[0], policy.NameGoLevelDB
	if strings.HasPrefix(database, "name2") {
		s, name = e.Settings[1], policy.Name
	}
	_, kind, _ := strings.Cut(database, "_")
	spec := map[string]string{"bloom": "bloom:10", "tuned": "bloom:10,tuned", "ribbon": "ribbon:10"}
	p, err := policy.FromString(spec[kind], policy.WithName(name))
	require.NoError(t, err)
	s.Policies, s.Still = []*policy.Policy{p}, true
	return s, p
}

// write writes databases of every kind and name.
func (e ReleaseEngine) write(t *testing.T, dir string) {
	require.NoDirExists(t, dir, "the databases of a release never change")
	keys := newReleasedKeys()
	for _, database := range []string{
		"name1_bloom", "name1_tuned", "name1_ribbon", "name2_bloom", "name2_tuned", "name2_ribbon",
	} {
		path := filepath.Join(dir, database)
		require.NoError(t, os.MkdirAll(path, 0o755))
		s, _ := e.setting(t, database)
		db := open(t, e.New(t, path), s)
		for i, key := range keys.Present {
			require.NoError(t, db.Apply(0, []Change{{key, []byte{}}}))
			if i+1 == len(keys.Present) || key[0] != keys.Present[i+1][0] {
				require.NoError(t, db.Flush())
			}
		}
		require.NoError(t, db.Close())
	}
	for _, pattern := range []string{"LOG*", "LOCK", "*.log", "OPTIONS-*", "*.bak"} {
		surplus, err := filepath.Glob(filepath.Join(dir, "*", "*", pattern))
		require.NoError(t, err)
		for _, path := range surplus { // no engine needs them to open a database
			require.NoError(t, os.Remove(path))
		}
	}
	text, err := json.Marshal(keys)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "keys.json"), append(text, '\n'), 0o644))
}

// newReleasedKeys returns a key, some dense numbers, and more keys than one shard of a ribbon filter
// has. A table begins and ends with present ones, so that absent ones are looked up in it.
func newReleasedKeys() (r releasedKeys) {
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
