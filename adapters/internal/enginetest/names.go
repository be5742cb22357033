package enginetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

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

// The name that a policy has when it is configured stays the name of its filters.
func testNameThatChanges(t *testing.T, newEngine func(testing.TB) Engine) {
	e := newEngine(t)
	keys := Keys(Rand(t, 9), 300)
	p := &named{Kinds[0].MustNew(10, policy.Name), "a"}
	var watch Watch
	s := Setting{Still: true, Watch: &watch, Policies: []policy.Policy{p}}
	for range 2 {
		p.name = "a"
		db := open(t, e, s)
		p.name = "b"
		put(t, db, keys)
		watch.Take()
		requireFound(t, db, keys)
		answers := watch.Take()
		require.Len(t, answers, 1)
		require.Positive(t, answers[Label{"a", Kinds[0].Encoding}].MayContain, "%v", answers)
		require.NoError(t, db.Close())
	}
}
