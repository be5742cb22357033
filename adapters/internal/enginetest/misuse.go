package enginetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// named is a policy with any name.
type named struct {
	policy.Policy
	name string
}

func (n named) Name() string { return n.name }

// Every adapter refuses the same policies, in policy.Check's words.
func testMisuse(t *testing.T, newEngine func(testing.TB) Engine) {
	exact := Kinds[0].MustNew(10, policy.Name)
	failed, _ := policy.NewBloom(0)
	unusable := map[string]policy.Policy{
		"nil":                         nil,
		"returned with an error":      failed,
		"nil Counted":                 (*policy.Counted)(nil),
		"zero Counted":                &policy.Counted{},
		"zero Bloom":                  &policy.Bloom{},
		"zero Ribbon":                 &policy.Ribbon{},
		"nil Ribbon":                  (*policy.Ribbon)(nil),
		"empty name":                  named{exact, ""},
		"none":                        named{exact, "none"},
		"line break":                  named{exact, "a\nb"},
		"space before":                named{exact, " a"},
		"space after":                 named{exact, "a\t"},
		"Pebble's own":                named{exact, "rocksdb.BuiltinBloomFilter"},
		"other encoding of RocksDB's": named{exact, "rocksdb.x"},
	}
	for name, p := range unusable {
		t.Run(name, func(t *testing.T) {
			want := policy.Check(p)
			require.Error(t, want)
			e := newEngine(t)
			require.ErrorContains(t, e.Configure(p), want.Error())
			require.ErrorContains(t, e.Configure(exact, p), want.Error())
			func() {
				defer func() { require.ErrorContains(t, recover().(error), want.Error()) }()
				e.New(p)
			}()
		})
	}
}

// salted is a policy of another encoding: it adds and looks up every key with a byte before it.
type salted struct{ policy.Policy }

type saltedBuilder struct{ policy.Builder }

func salt(key []byte) []byte { return append([]byte{0x5a}, key...) }

func (s salted) NewBuilder() policy.Builder { return saltedBuilder{s.Policy.NewBuilder()} }

func (s salted) MayContain(filter, key []byte) bool {
	return s.Policy.MayContain(filter, salt(key))
}
func (b saltedBuilder) Add(key []byte) { b.Builder.Add(salt(key)) }

// The policies of package policy may share a name. Another one may not, because it could read
// filters that it did not build.
func testSharedNames(t *testing.T, newEngine func(testing.TB) Engine) {
	e := newEngine(t)
	const refused, taken = "a name of its own with policy.WithName",
		"is taken by LevelDB's filters or by another policy"
	for _, name := range names {
		for _, kind := range Kinds {
			p := kind.MustNew(16, name)
			for _, other := range Kinds {
				q := other.MustNew(5, name)
				what := fmt.Sprintf("%s after %s, %s", kind.Name, other.Name, name)
				require.NoError(t, e.Configure(q, p), what)
				require.NoError(t, e.Configure(policy.Count(q), p), what)
				require.NoError(t, e.Configure(q, policy.Count(policy.Count(p))), what)
				require.ErrorContains(t, e.Configure(q, salted{p}), refused, what)
				require.ErrorContains(t, e.Configure(policy.Count(salted{q}), p), refused, what)
				require.ErrorContains(t, e.Configure(q, salted{policy.Count(p)}), refused, what)
			}
			// LevelDB's names belong to its encoding, even if the options have no filter under
			// them.
			if err := e.Configure(salted{p}); name == "mine" {
				require.NoError(t, err)
				require.NoError(t, e.Configure(salted{p}, salted{p}), "with itself")
				require.NoError(t, e.Configure(salted{p}, kind.MustNew(10, policy.Name), salted{p}))
			} else {
				require.ErrorContains(t, err, refused)
				require.ErrorContains(t, err, taken)
			}
		}
	}
}

// Configure changes options that an open database uses without an effect on the database. The race
// detector watches.
func testReconfigure(t *testing.T, newEngine func(testing.TB) Engine) {
	e := newEngine(t)
	keys := policytest.Keys(policytest.Rand(t, 4), 600)
	p := Kinds[0].MustNew(10, "before")
	db := open(t, e, Setting{Policies: []policy.Policy{p}})
	put(t, db, keys[:300])
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 100 {
			name := []string{"before", policy.Name, "after"}[i%3]
			p := Kinds[i%len(Kinds)].MustNew(float64(2+i%20), name)
			if err := db.Reconfigure(p); err != nil {
				t.Errorf("Configure: %v", err)
			}
		}
	}()
	for range 3 {
		requireFound(t, db, keys[:300])
	}
	<-done
	put(t, db, keys[300:])
	require.NoError(t, db.Compact())
	requireFound(t, db, keys)
	require.NoError(t, db.Close())

	var watch Watch
	db = open(t, e, Setting{Policies: []policy.Policy{p}, Watch: &watch})
	requireFound(t, db, keys)
	for l := range watch.Take() {
		require.Equal(t, "before", l.Name)
	}
	require.NoError(t, db.Close())
}
