package enginetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// named is a policy with any name.
type named struct {
	policy.Policy
	name string
}

func (n named) Name() string { return n.name }

// Every adapter refuses what policy.Check refuses, in its words.
func testMisuse(t *testing.T, newEngine func(testing.TB) Engine) {
	exact := Kinds[0].MustNew(10, policy.Name)
	failed, _ := policy.NewBloom(0)
	unusable := map[string]policy.Policy{
		"nil":                    nil,
		"returned with an error": failed,
		"zero Counted":           &policy.Counted{},
		"empty name":             named{exact, ""},
		"Pebble's own":           named{exact, "rocksdb.BuiltinBloomFilter"},
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
