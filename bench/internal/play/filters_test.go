package play

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/policy"
)

func ask(t *testing.T, q question) map[string]filter {
	a, err := reply(context.Background(), &q)
	require.NoError(t, err)
	byKind := map[string]filter{}
	for i, f := range a.Filters {
		require.Equal(t, kinds[i].Name, f.Kind)
		byKind[f.Kind] = f
	}
	return byKind
}

// The keys that set a bit are those that set it on their own. Filters of up to 6 keys have 64 bits.
func TestOwners(t *testing.T) {
	stored := []string{"ant", "bee", "cat", "dog", "eel", "fox"}
	for _, word := range append([]string{"zebra", "jackal"}, stored...) {
		f := ask(t, question{Keys: stored, Bits: 10, Ask: word})["bloom"]
		require.Equal(t, slices.Contains(stored, word), f.Stored)
		require.Len(t, f.Probes, f.K)
		for _, p := range f.Probes {
			var owners []string
			for _, key := range stored {
				alone := ask(t, question{Keys: []string{key}, Bits: 10})["bloom"].Bytes
				if alone[p.Bit/8]>>(p.Bit%8)&1 != 0 {
					owners = append(owners, key)
				}
			}
			require.Equal(t, owners, p.Owners)
			require.Equal(t, owners != nil, p.Set)
		}
		unset := slices.ContainsFunc(f.Probes, func(p probe) bool { return !p.Set })
		require.Equal(t, !unset, f.Contains)
	}
}

// Every column of ribbon has a deciding bit at least, and no more than the coefficients of two
// words.
func TestDecidingBits(t *testing.T) {
	q := question{N: 100, Shape: "uuid", Keys: []string{"cat"}, Bits: 10, Ask: "cat"}
	f := ask(t, q)["ribbon"]
	require.Empty(t, f.Probes)
	require.True(t, f.Contains && f.Stored)
	require.GreaterOrEqual(t, len(f.Deciding), f.K)
	require.LessOrEqual(t, len(f.Deciding), 128*(f.K+1))
	require.Greater(t, slices.Max(f.Deciding), f.Bits/2, "all bits are tried")
	f.Bytes[f.Deciding[0]/8] ^= 1 << (f.Deciding[0] % 8)
	require.False(t, policy.MayContain(f.Bytes, []byte("cat")))
	q.Ask = f.Absent
	require.Empty(t, ask(t, q)["ribbon"].Deciding)
}

func TestExamplesAndRates(t *testing.T) {
	q := question{N: 1000, Shape: "decimal", Bits: 10}
	m, err := newMaterial(&q)
	require.NoError(t, err)
	for name, f := range ask(t, q) {
		require.NotEmpty(t, f.FalsePositives)
		require.LessOrEqual(t, len(f.FalsePositives), examples)
		for _, key := range f.FalsePositives {
			require.True(t, policy.MayContain(f.Bytes, []byte(key)))
			require.False(t, m.isStored[key])
		}
		require.False(t, policy.MayContain(f.Bytes, []byte(f.Absent)))

		p, err := filters.PolicyOf(name, 10)
		require.NoError(t, err)
		expected := p.FPP(q.N) * asked
		require.Equal(t, asked, f.Random.Asked)
		require.InDelta(t, expected, f.Random.False, 0.1*expected+5*math.Sqrt(expected), name)
		require.Less(t, 500, f.Between.Asked)
	}
	// What is stored is not absent.
	q.Keys = []string{string(m.between[0]), string(m.random[0])}
	stored, err := newMaterial(&q)
	require.NoError(t, err)
	require.Equal(t, m.between[1:], stored.between)
	require.Equal(t, m.random[1:], stored.random)
	require.Zero(t, ask(t, question{N: 51, Shape: "uuid", Bits: 10})["bloom"].Between.Asked)
}

func TestRefusedQuestions(t *testing.T) {
	const limits = "pass at most 20 bits per key, 10000 keys, and 1000 bytes in a key"
	_, err := reply(context.Background(), &question{Bits: 20, N: maxKeys, Shape: "uuid"})
	require.NoError(t, err)
	for change, message := range map[*question]string{
		{N: 1, Shape: "bigendian", Bits: 10}: `no shape "bigendian"`, // no text
		{Bits: 20.5}:                         limits,
		{Bits: 10, N: maxKeys, Shape: "uuid", Keys: []string{"cat"}}: limits,
		{Bits: 10, N: -1}: limits,
		{Bits: 10, Ask: strings.Repeat("x", maxKeyBytes+1)}: limits,
	} {
		_, err := reply(context.Background(), change)
		require.ErrorContains(t, err, message)
	}
}
