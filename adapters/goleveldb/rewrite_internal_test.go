package goleveldb

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// between returns keys between others, if these leave room, and never the same twice.
func TestBetween(t *testing.T) {
	rng := testkit.Rand(t, 66)
	key := func() []byte {
		key := make([]byte, rng.Intn(4))
		for i := range key {
			key[i] = []byte{0, 1, 254, 255}[rng.Intn(4)]
		}
		return key
	}
	for range 10_000 {
		a, b := key(), key()
		got := between(a, b)
		if bytes.Compare(a, bytes.TrimRight(b, "\x00")) >= 0 {
			require.Nil(t, got)
			continue
		}
		require.Less(t, string(a), string(got), "%x", b)
		require.Less(t, string(got), string(b), "%x", a)
		require.NotEqual(t, got, between(a, b))
	}
}

// Other lookups do not count as the one that Rewrite watches.
func TestOtherLookups(t *testing.T) {
	p, err := policy.NewRibbon(10)
	require.NoError(t, err)
	f, err := newFilter(p)
	require.NoError(t, err)
	mine, other := []byte("mine"), []byte("other")
	both := p.AppendFilter(nil, [][]byte{mine, other})
	l := &lookup{key: mine}
	f.lookup.Store(l)
	require.True(t, f.Contains(both, other))
	require.False(t, l.ours.Load())
	require.True(t, f.Contains(both, mine))
	require.True(t, l.ours.Load())
}
