package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// salted is a policy of another encoding: it adds a byte to each key. reading only, or making only, it behaves.
type salted struct {
	Policy
	makes, reads bool
}

func (s salted) salt(key []byte) []byte { return append([]byte{0x5a}, key...) }

func (s salted) MayContain(filter, key []byte) bool {
	if s.reads {
		key = s.salt(key)
	}
	return s.Policy.MayContain(filter, key)
}

func (s salted) NewBuilder() Builder {
	if !s.makes {
		return s.Policy.NewBuilder()
	}
	return saltedBuilder{s.Policy.NewBuilder(), s}
}

type saltedBuilder struct {
	Builder
	salted salted
}

func (b saltedBuilder) Add(key []byte) { b.Builder.Add(b.salted.salt(key)) }

// embedded inherits Unwrap from the Counted in it, and answers differently.
type embedded struct{ *Counted }

func (embedded) MayContain(filter, key []byte) bool { return false }

func TestReadEachOther(t *testing.T) {
	bloom, other := mustBloom(t, 10), mustBloom(t, 1.5)
	require.True(t, ReadEachOther(bloom, other), "other bits, the same encoding")
	for _, s := range []salted{{bloom, true, true}, {bloom, true, false}, {bloom, false, true}} {
		require.False(t, ReadEachOther(bloom, s), "%v", s)
		require.False(t, ReadEachOther(s, bloom), "%v", s)
	}
	same := salted{bloom, true, true}
	require.True(t, ReadEachOther(same, same))

	counted := Count(bloom)
	require.True(t, ReadEachOther(counted, Count(Count(other))))
	require.Zero(t, counted.Snapshot(), "the trial is not counted")
	require.False(t, ReadEachOther(bloom, embedded{Count(bloom)}), "a type with Unwrap is not taken for what it wraps")
}
