package enginetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
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

const (
	releaseList  = "release.json"
	releaseSums  = "SHA256SUMS"
	releaseValue = "v" // of all present keys
	releaseMark  = "levelbloom.probe"
)

// Releases reads the databases of each release, and writes anew what is frozen. With flag -release
// it writes those of a new release first.
func (e ReleaseEngine) Releases(t *testing.T) {
	const releases = "../../testdata/releases" // from the directory of an adapter
	if *newRelease != "" {
		e.write(t, filepath.Join(releases, *newRelease, e.Name))
	}
	dirs, err := filepath.Glob(filepath.Join(releases, "*", e.Name))
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	for _, dir := range dirs {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			r, err := readRelease(dir)
			require.NoError(t, err)
			for _, d := range r.Databases {
				t.Run(d.Name, func(t *testing.T) {
					require.NoError(t, e.check(t, dir, r, d))
					p, err := policy.FromString(d.Policy)
					require.NoError(t, err)
					if !strings.Contains(d.Policy, "tuning=") { // whose choice is not frozen
						today := e.fill(t, t.TempDir(), r, d.Name, p)
						require.Equal(t, d, today, "other bytes need another encoding byte")
					}
				})
			}
			t.Run("flipped bits", func(t *testing.T) { e.flipBits(t, dir, r) })
		})
	}
}

// write writes databases of every kind and name.
func (e ReleaseEngine) write(t *testing.T, dir string) {
	require.NoDirExists(t, dir, "the databases of a release never change")
	r := releaseKeys()
	for i, name := range []string{policy.NameGoLevelDB, policy.Name} {
		for _, kind := range []string{"bloom", "tuned", "ribbon"} {
			p := Kind{Name: kind}.MustNew(10, name)
			database := fmt.Sprintf("name%d_%s", i+1, kind)
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
	text, err := sums(dir)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, releaseSums), []byte(text), 0o644))
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
	for _, key := range Keys(rng, 1090) {
		random = append(random, append([]byte("c"), key[:min(5, len(key))]...))
	}
	add(dense...)
	add(random...)
	return r
}

// setting is that of a database.
func (e ReleaseEngine) setting(database string, p policy.Policy) Setting {
	s := e.Settings[1]
	if strings.HasPrefix(database, "name1") {
		s = e.Settings[0]
	}
	s.Policies, s.Still, s.Watch = []policy.Policy{p}, true, new(Watch)
	return s
}

// fill makes a database in dir.
func (e ReleaseEngine) fill(
	t *testing.T, dir string, r release, database string, p policy.Policy,
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
	d, err := e.observe(engine, r, database, p)
	require.NoError(t, err)
	return d
}

// observe looks up all keys, and returns the filters with their answers. It returns an error if the
// content is not that of r. The engine may change its files.
func (e ReleaseEngine) observe(
	engine Engine, r release, database string, p policy.Policy,
) (d released, err error) {
	d = released{Name: database, Policy: fmt.Sprint(p)}
	s := e.setting(database, p)
	db, err := engine.Open(s)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if d.Properties, err = e.Properties(db); err != nil {
		return d, err
	}
	var want []Entry
	for _, key := range r.Present {
		want = append(want, Entry{string(key), releaseValue})
	}
	if content, err := db.Scan(nil, []byte("z")); err != nil || !slices.Equal(content, want) {
		return d, errors.Join(err, errors.New("an iterator finds other entries"))
	}
	for _, key := range slices.SortedFunc(
		slices.Values(slices.Concat(r.Present, r.Absent)), bytes.Compare) {
		answers := map[string]bool{} // by filter
		s.Watch.Saw = func(name string, filter []byte, answer bool) {
			if name == p.Name() {
				answers[string(filter)] = answer
			}
		}
		value, err := db.Find(key)
		_, present := slices.BinarySearchFunc(r.Present, key, bytes.Compare)
		if err != nil || present != (value != nil) || len(answers) != 1 {
			return d, errors.Join(err, fmt.Errorf("key %x has the value %q, and %d filters",
				key, value, len(answers)))
		}
		for filter, answer := range answers {
			d.note(filter, answer)
		}
	}
	return d, nil
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

// readRelease reads the list of a release, and compares all files with their digests.
func readRelease(dir string) (r release, err error) {
	list, err := os.ReadFile(filepath.Join(dir, releaseList))
	if err != nil {
		return r, err
	}
	want, err := os.ReadFile(filepath.Join(dir, releaseSums))
	if err != nil {
		return r, err
	}
	got, err := sums(dir)
	if err == nil && got != string(want) {
		err = errors.New("the files are not those of " + releaseSums)
	}
	return r, errors.Join(err, json.Unmarshal(list, &r))
}

// sums returns the digests of all files of a release, as sha256sum prints them.
func sums(dir string) (string, error) {
	var text strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == releaseSums {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(data), filepath.ToSlash(name))
		return err
	})
	return text.String(), err
}

// check opens a copy of a database, and returns an error if something is not as d says.
func (e ReleaseEngine) check(t *testing.T, dir string, r release, d released) error {
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(copied, os.DirFS(filepath.Join(dir, d.Name))))
	p, err := policy.FromString(d.Policy)
	require.NoError(t, err)
	found, err := e.observe(e.New(t, copied), r, d.Name, p)
	if err == nil && !reflect.DeepEqual(found, d) {
		err = errors.New("properties, filters or answers are others")
	}
	return err
}

// flipBits flips a bit of each list, filter and mark in a copy, one at a time. The digests notice
// those in lists. Without the digests, the databases notice the others.
func (e ReleaseEngine) flipBits(t *testing.T, dir string, r release) {
	rng := Rand(t, 151)
	copied := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
	flip := func(path string, from, size int, check func() error) {
		sound, err := os.ReadFile(path)
		require.NoError(t, err)
		flipped, bit := bytes.Clone(sound), rng.Intn(8*size)
		flipped[from+bit/8] ^= 1 << (bit % 8)
		require.NoError(t, os.WriteFile(path, flipped, 0o644))
		require.Error(t, check(), "%s, byte %d, bit %d", path, from+bit/8, bit%8)
		require.NoError(t, os.WriteFile(path, sound, 0o644))
	}
	for _, name := range []string{releaseList, releaseSums} {
		path := filepath.Join(copied, name)
		info, err := os.Stat(path)
		require.NoError(t, err)
		flip(path, 0, int(info.Size()), func() error { _, err := readRelease(copied); return err })
	}
	for _, d := range r.Databases {
		parts := map[string]bool{} // whether they were found
		for _, f := range d.Filters {
			parts[string(f.Filter)] = false
		}
		if strings.Contains(strings.Join(d.Properties, ""), releaseMark) {
			parts[releaseMark] = false
		}
		files, err := filepath.Glob(filepath.Join(copied, d.Name, "*", "*.[ls][ds][bt]"))
		require.NoError(t, err)
		for _, path := range files {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			for part := range parts {
				if at := strings.Index(string(data), part); at >= 0 {
					parts[part] = true
					flip(path, at, len(part), func() error { return e.check(t, copied, r, d) })
				}
			}
		}
		require.NotContains(t, slices.Collect(maps.Values(parts)), false, d.Name)
	}
}
