package play

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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

// A bit is not set if the keys that set it are not stored. Filters of up to 6 keys have 64 bits.
func TestOwners(t *testing.T) {
	stored := []string{"ant", "bee", "cat", "dog", "eel", "fox"}
	for _, word := range append([]string{"zebra", "jackal"}, stored...) {
		f := ask(t, question{Keys: stored, Bits: 10, Ask: word})["bloom"]
		require.Equal(t, slices.Contains(stored, word), f.Stored)
		set := 0
		for _, p := range f.Probes {
			if !p.Set {
				require.Empty(t, p.Owners)
				continue
			}
			set++
			others := slices.DeleteFunc(slices.Clone(stored), func(key string) bool {
				return slices.Contains(p.Owners, key)
			})
			without := ask(t, question{Keys: others, Bits: 10})["bloom"]
			require.False(t, isSet(without.Bytes, p.Bit))
			for _, owner := range p.Owners {
				with := ask(t, question{Keys: append(others, owner), Bits: 10})["bloom"]
				require.True(t, isSet(with.Bytes, p.Bit))
			}
		}
		require.Equal(t, set == f.K, f.Contains)
	}
}

func TestDecidingBits(t *testing.T) {
	q := question{N: 100, Shape: "uuid", Keys: []string{"cat"}, Bits: 10, Ask: "cat"}
	f := ask(t, q)["ribbon"]
	require.Equal(t, policy.EncodingRibbon, f.Encoding)
	require.Empty(t, f.Probes)
	require.True(t, f.Contains && f.Stored)
	// Every column has one at least, and no more than the coefficients of two words.
	require.GreaterOrEqual(t, len(f.Deciding), f.K)
	require.LessOrEqual(t, len(f.Deciding), 128*(f.K+1))
	for bit := range f.Bits {
		changed := slices.Clone(f.Bytes)
		changed[bit/8] ^= 1 << (bit % 8)
		decides := !policy.MayContain(changed, []byte("cat"))
		require.Equal(t, decides, slices.Contains(f.Deciding, bit), "bit %d", bit)
	}

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

		p, err := policy.FromString(name + ":10")
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
	// LevelDB's hash and dense numbers in a filter of one window.
	small := ask(t, question{N: 51, Shape: "decimal", Bits: 10})
	require.Greater(t, 2*small["bloom"].Between.False, small["bloom"].Between.Asked)
	require.Less(t, 2*small["tuned"].Between.False, small["tuned"].Between.Asked)
	require.Zero(t, ask(t, question{N: 51, Shape: "uuid", Bits: 10})["bloom"].Between.Asked)
}

func TestRefusedQuestions(t *testing.T) {
	long := strings.Repeat("x", maxKeyBytes+1)
	for message, q := range map[string]question{
		"0 bits per key":        {},
		"20.5 bits per key":     {Bits: 20.5},
		"10001 keys of a shape": {Bits: 10, N: maxKeys + 1, Shape: "uuid"},
		"-1 keys of a shape":    {Bits: 10, N: -1},
		"pass at most 1000":     {Bits: 10, Keys: []string{long}},
		`no shape "octal"`:      {Bits: 10, N: 1, Shape: "octal"},
		`no shape "bigendian"`:  {Bits: 10, N: 1, Shape: "bigendian"}, // no text
	} {
		_, err := reply(context.Background(), &q)
		require.ErrorContains(t, err, message)
	}
	_, err := reply(context.Background(), &question{Bits: 10, N: maxKeys, Shape: "uuid"})
	require.NoError(t, err)
}
