package enginetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// named is a policy with any name, which is none of package policy's own.
type named struct {
	policy.Policy
	name string
}

func (n named) Name() string { return n.name }

// Every adapter refuses what policy.Check refuses, in its words.
func testMisuse(t *testing.T, newEngine func(testing.TB) Engine) {
	e := newEngine(t)
	p := Kinds[0].MustNew(10, policy.Name)
	for _, unusable := range []policy.Policy{nil, &policy.Counted{}, named{p, ""}} {
		want := policy.Check(unusable).Error()
		require.ErrorContains(t, e.Configure(unusable), want)
		require.ErrorContains(t, e.Configure(p, unusable), want)
		func() {
			defer func() { require.ErrorContains(t, recover().(error), want) }()
			e.New(unusable)
		}()
	}
}

// The policies of package policy may share a name. Another one may not, because it could read
// filters that it did not build. LevelDB's names belong to its encoding, even if the options have
// no filter under them.
func testSharedNames(t *testing.T, newEngine func(testing.TB) Engine) {
	e := newEngine(t)
	for _, name := range names {
		p, q := Kinds[0].MustNew(16, name), Kinds[1].MustNew(5, name)
		other := named{q, name}
		require.NoError(t, e.Configure(q, p))
		require.NoError(t, e.Configure(policy.Count(q), p))
		require.NoError(t, e.Configure(q, policy.Count(policy.Count(p))))
		for _, err := range []error{
			e.Configure(p, other), e.Configure(policy.Count(other), p), e.Configure(other, p),
		} {
			require.ErrorContains(t, err, "a name of its own with policy.WithName")
		}
		if name == "mine" {
			require.NoError(t, e.Configure(other, other))
			require.NoError(t, e.Configure(other, Kinds[0].MustNew(10, policy.Name), other))
		} else {
			require.ErrorContains(t, e.Configure(other), "is taken by LevelDB's filters")
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
