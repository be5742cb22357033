package enginetest

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// The databases of every release are in testdata/releases. What is frozen of filters' bytes, the
// vectors in testdata have.

var newRelease = flag.String("release", "",
	"write the databases of this release, such as v0.1.0, which must not be there yet")

// releases are all releases, the oldest first. Of each database, the first word is the setting, and
// the second the kind of filter.
var (
	releases  = []string{"v0.1.0"}
	databases = []string{"name1_bloom", "name1_tuned", "name1_ribbon",
		"name2_bloom", "name2_tuned", "name2_ribbon"}
)

const releaseDir = "../../testdata/releases" // from the directory of an adapter

// A ReleaseEngine is an engine with which each release writes databases.
type ReleaseEngine struct {
	Name string
	// New returns the engine of the database in a directory, which may be empty.
	New func(t testing.TB, dir string) Engine
	// Settings are of the databases whose names begin with "name1" and with "name2".
	Settings [2]Setting
}

// releasedKeys is the file keys.json. A database has all keys in Present, with an empty value.
type releasedKeys struct{ Present, Absent [][]byte }

// Releases looks the keys of each release's databases up. With flag -release it writes those of a
// new release first.
func (e ReleaseEngine) Releases(t *testing.T) {
	if *newRelease != "" {
		e.write(t)
	}
	found, err := filepath.Glob(filepath.Join(releaseDir, "v*"))
	require.NoError(t, err)
	require.Len(t, found, len(releases), "a release is missing, here or in the list of releases")
	for _, release := range releases {
		dir := filepath.Join(releaseDir, release, e.Name)
		_, keys := readKeys(t, dir)
		for _, database := range databases {
			t.Run(release+" "+database, func(t *testing.T) { e.check(t, dir, database, keys) })
		}
	}
}

// readKeys returns the file keys.json in a directory, and what it says.
func readKeys(t *testing.T, dir string) (text []byte, keys releasedKeys) {
	text, err := os.ReadFile(filepath.Join(dir, "keys.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &keys))
	return text, keys
}

// check looks keys up in a copy of a database: its filters are consulted, and avoid reads.
func (e ReleaseEngine) check(t *testing.T, dir, database string, keys releasedKeys) {
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(copied, os.DirFS(filepath.Join(dir, database))))
	s, p := e.setting(t, database)
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

func (e ReleaseEngine) setting(t *testing.T, database string) (Setting, *policy.Policy) {
	s, name := e.Settings[0], policy.NameGoLevelDB
	if strings.HasPrefix(database, "name2") {
		s, name = e.Settings[1], policy.NameLevelDB
	}
	_, kind, _ := strings.Cut(database, "_")
	spec := map[string]string{"bloom": "bloom:10", "tuned": "bloom:10,tuned", "ribbon": "ribbon:10"}
	p, err := policy.FromString(spec[kind], policy.WithName(name))
	require.NoError(t, err)
	s.Policies, s.Still = []*policy.Policy{p}, true
	return s, p
}

// write writes the databases of a new release, with the keys of the first one.
func (e ReleaseEngine) write(t *testing.T) {
	dir := filepath.Join(releaseDir, *newRelease, e.Name)
	require.NoDirExists(t, dir, "the databases of a release never change")
	text, keys := readKeys(t, filepath.Join(releaseDir, releases[0], e.Name))
	for _, database := range databases {
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
	require.NoError(t, os.WriteFile(filepath.Join(dir, "keys.json"), text, 0o644))
}
