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
