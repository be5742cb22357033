package enginetest

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// A Report is what the adapter's Check says of a database.
type Report struct {
	Text     string
	Fits     bool  // it warns of nothing
	Blind    bool  // it says that it cannot see which tables have filters
	Required int64 // the size of the block cache, in bytes
}

// A state is one that a database may be in when Check is asked.
type state struct {
	name string
	// fill writes keys to the database of e, in one way or another. It may change s, with which the
	// database is opened then. It returns a part of what Check warns of, "" if all is well.
	fill func(t testing.TB, e Engine, s *Setting, keys [][]byte) (warning string)
}

// states lists them. In the end a database is opened with filters, unless fill changes that.
var states = []state{
	{"new", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		write(t, e, *s, len(keys)*19/20, keys)
		return ""
	}},
	{"in order", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		write(t, e, *s, len(keys)*19/20, slices.SortedFunc(slices.Values(keys), bytes.Compare))
		return ""
	}},
	{"in the last level", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		write(t, e, *s, len(keys), keys)
		return ""
	}},
	{"taken over", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		write(t, e, s.without(), len(keys)*19/20, keys)
		return "tables have no filter"
	}},
	{"taken over in the last level", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		write(t, e, s.without(), len(keys), keys)
		return "tables have no filter"
	}},
	{"the engine's own filters", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		builtin := s.without()
		builtin.Builtin = true
		write(t, e, builtin, len(keys), keys)
		return "another one or no mark"
	}},
	{"fractions of a bit", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		s.Policies = []*policy.Policy{Kinds[1].MustNew(9.9, "mine")}
		db := open(t, e, *s) // a filter of one key more may be smaller
		keys = slices.SortedFunc(slices.Values(keys), bytes.Compare)
		for n := 1; len(keys) > 0; n++ {
			size := min(n, len(keys))
			put(t, db, keys[:size])
			keys = keys[size:]
		}
		require.NoError(t, db.Close())
		return ""
	}},
	{"half rewritten", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		keys = slices.SortedFunc(slices.Values(keys), bytes.Compare)
		write(t, e, s.without(), len(keys), keys)
		write(t, e, *s, len(keys)/2, keys[:len(keys)/2])
		return "tables have no filter"
	}},
	{"Rewrite was interrupted", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		keys = slices.SortedFunc(slices.Values(keys), bytes.Compare)
		write(t, e, s.without(), len(keys), keys)
		db := open(t, e, *s)
		defer db.Close()
		for i := 0; i < len(keys); i += 2500 { // what lies between needs compactions of its own
			put(t, db, keys[i:][:500])
			require.NoError(t, db.Compact())
		}
		ctx, cancel := context.WithCancel(context.Background())
		err := db.Rewrite(&interrupted{Context: ctx, cancel: cancel})
		require.ErrorIs(t, err, context.Canceled)
		return "tables have no filter"
	}},
	{"Configure after opening", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		write(t, e, s.without(), len(keys), keys)
		*s = s.without()
		return "if Configure was called before "
	}},
	{"too few files", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		db := open(t, e, *s) // without compactions, so that the tables stay as many as they are
		keys = slices.SortedFunc(slices.Values(keys), bytes.Compare)
		for part := range slices.Chunk(keys, 170) {
			put(t, db, part)
		}
		require.NoError(t, db.Close())
		s.Files = 20
		return "OpenFiles"
	}},
	{"flushes behind", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		write(t, e, *s, len(keys), keys)
		s.Behind = 16
		return ""
	}},
	{"too small a cache", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		write(t, e, *s, len(keys), keys)
		s.Cache = 1
		return "too small"
	}},
	{"virtual tables", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		write(t, e, *s, len(keys), keys)
		db := open(t, e, *s)
		defer db.Close()
		virtual, ok := db.(interface {
			Excise(key []byte) (hidden bool, err error)
		})
		if !ok {
			t.Skip("the engine has none")
		}
		warning := ""
		for _, key := range keys[:10] {
			hidden, err := virtual.Excise(key)
			require.NoError(t, err)
			if hidden {
				warning = "are virtual"
			}
		}
		return warning
	}},
	{"copied levels", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		s.Copied = true
		write(t, e, *s, len(keys), keys)
		return "larger than 16384"
	}},
	{"Pebble v1's default format", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		if !strings.HasPrefix(e.Variants()[0].Name, "001") {
			t.Skip("another engine")
		}
		s.Variant = 0
		write(t, e, *s, len(keys), keys)
		return "set FormatMajorVersion"
	}},
	{"a comparer with prefixes", func(t testing.TB, e Engine, s *Setting, keys [][]byte) string {
		s.Variant = len(e.Variants()) - 1
		var versions [][]byte
		for _, key := range keys {
			prefix := e.Variants()[s.Variant].Prefix(key)
			for i := range min(4, len(key)-len(prefix)) {
				versions = append(versions, append(bytes.Clone(key), byte(i)))
			}
		}
		write(t, e, s.without(), len(keys), slices.Concat(keys, versions))
		return "tables have no filter"
	}},
}

// An interrupted context is canceled when it is asked for the third time.
type interrupted struct {
	context.Context
	cancel context.CancelFunc
	asked  int
}

func (c *interrupted) ask() {
	if c.asked++; c.asked > 2 {
		c.cancel()
	}
}

func (c *interrupted) Err() error {
	c.ask()
	return c.Context.Err()
}

func (c *interrupted) Done() <-chan struct{} {
	c.ask()
	return c.Context.Done()
}

// ours are the filters that a database is opened with in the end.
var ours = []*policy.Policy{Kinds[1].MustNew(10, "mine")}

// openConfigured opens a database, and passes its options to Configure if that comes too late.
func openConfigured(t testing.TB, e Engine, s Setting) DB {
	db := open(t, e, s)
	if len(s.Policies) == 0 {
		require.NoError(t, db.Reconfigure(ours[0]))
	}
	return db
}

// without returns s without filters.
func (s Setting) without() Setting {
	s.Policies = nil
	return s
}

// write opens a database, writes keys, and merges the tables of the first merged ones. Few of the
// others overlap: each filter has false positives of its own.
func write(t testing.TB, e Engine, s Setting, merged int, keys [][]byte) {
	s.Still = false
	db := open(t, e, s)
	put(t, db, keys[:merged])
	require.NoError(t, db.Compact())
	put(t, db, keys[merged:])
	require.NoError(t, db.Close())
}

// Check is true in each state of a database: if it warns of nothing, lookups of absent keys
// read next to nothing. If it warns, that is so once the database is as the report says.
func testStates(t *testing.T, newEngine func(testing.TB) Engine) {
	all := testkit.Keys(testkit.Rand(t, 4), 14_000)
	keys, absent := all[:10_000], all[10_000:]
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			e := newEngine(t)
			s := Setting{Still: true, Variant: max(0, len(e.Variants())-2), Files: 1000,
				Policies: ours}
			warning := state.fill(t, e, &s, keys)
			if s.Cache == 0 {
				db := openConfigured(t, e, s)
				s.Cache = check(t, db).Required
				require.NoError(t, db.Close())
			}
			db := openConfigured(t, e, s)
			r := check(t, db)
			before, _ := reads(t, db, s, keys, absent)
			t.Logf("%.1f reads per 1,000 absent keys\n%s", before, r.Text)
			if !r.Blind {
				require.Equal(t, warning == "", r.Fits, r.Text)
				require.Contains(t, r.Text, warning)
			}
			for round := 0; !r.Fits || r.Blind && round == 0; round++ {
				require.Less(t, round, 4, "%s", r.Text)
				db = follow(t, e, db, &s, r)
				r = check(t, db)
			}
			after, present := reads(t, db, s, keys, absent)
			t.Logf("now %.1f, and %.1f per 1,000 present keys\n%s", after, present, r.Text)
			require.LessOrEqual(t, after, 10.0)
			require.LessOrEqual(t, present, 1200.0, "a block each, and some filters again")
			require.NoError(t, db.Close())
		})
	}
}

func check(t testing.TB, db DB) Report {
	r, err := db.Check()
	require.NoError(t, err)
	return r
}

// reads returns the reads for 1,000 absent keys and for 1,000 present ones, once as many others
// have filled the caches.
func reads(
	t testing.TB, db DB, s Setting, keys, absent [][]byte,
) (byAbsent, byPresent float64) {
	if s.Behind > 0 {
		memory, ok := db.(interface {
			FallBehind() (catchUp func(), err error)
		})
		if !ok {
			t.Skip("the engine has no such setting")
		}
		catchUp, err := memory.FallBehind()
		defer catchUp()
		require.NoError(t, err)
	}
	look := func(keys [][]byte) float64 {
		start := db.Reads()
		for _, key := range keys {
			require.NoError(t, db.Look(key))
		}
		return 1000 * float64(db.Reads()-start) / float64(len(keys))
	}
	half := len(absent) / 2
	look(absent[:half])
	byAbsent = look(absent[half:])
	look(keys[:half])
	return byAbsent, look(keys[half:][:half])
}

// follow closes the database, does what a report says, and returns the database that is open then.
func follow(t testing.TB, e Engine, db DB, s *Setting, r Report) DB {
	number := func(pattern string) (n int, ok bool) {
		found := regexp.MustCompile(pattern).FindStringSubmatch(r.Text)
		if found == nil {
			return 0, false
		}
		n, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		return n, true
	}
	says := func(text string) bool { return strings.Contains(r.Text, text) }
	if n, ok := number(`pebble\.NewCache\((\d+) << 20\)`); ok {
		s.Cache = int64(n) << 20
	}
	if n, ok := number(`OpenFiles(?:CacheCapacity)? to (\d+)`); ok {
		s.Files = n
	}
	if says("set IndexBlockSize") {
		s.Copied = false
	}
	if says("set FormatMajorVersion") {
		s.Variant = len(e.Variants()) - 2
		upgraded := *s
		upgraded.Still = false // the upgrade compacts
		require.NoError(t, db.Close())
		db = open(t, e, upgraded)
	}
	if says("Configure was called before ") {
		s.Policies = ours
	}
	require.NoError(t, db.Close())
	db = open(t, e, *s)
	if says("Rewrite gives ") {
		require.NoError(t, db.Rewrite(context.Background()))
	}
	for range 2 { // filterdump counts what Rewrite wrote
		if r.Blind {
			require.NoError(t, db.Close())
			db = open(t, e, *s)
			s.Cache = check(t, db).Required
		}
	}
	return db
}
