package policy

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

// Keys of every length, alone, all of one length and mixed, whose memory is written over after each
// Add; numbers of keys around those that builders hash together and keep in a chunk; one builder
// for all.
func TestBuilderOfEveryLength(t *testing.T) {
	rng := policytest.Rand(t, 65)
	bloom := policytest.Must(NewBloom(10))
	builder := bloom.NewBuilder()
	memory := make([]byte, 300)
	check := func(n int, length func() int) {
		t.Helper()
		keys := make([][]byte, n)
		for i := range keys {
			keys[i] = make([]byte, length())
			rng.Read(keys[i])
			start := rng.Intn(17)
			copy(memory[start:], keys[i])
			builder.Add(memory[start : start+len(keys[i])])
			rng.Read(memory[:16+len(keys[i])])
			require.Equal(t, i+1, builder.Len())
		}
		want := referenceFilter(10, keys)
		require.Equal(t, want, builder.Finish(nil), "%d keys", n)
		require.Equal(t, want, bloom.AppendFilter(nil, keys), "%d keys", n)
		require.Zero(t, builder.Len())
	}
	for length := range 201 {
		check(1, func() int { return length })
		check(16+rng.Intn(20), func() int { return length })
	}
	for n := range 50 {
		check(n, func() int { return rng.Intn(201) })
		check(n, func() int { return rng.Intn(70) })
	}
	for _, n := range []int{4095, 4096, 4097, 4096 + 16, 4096 + 17, 2 * 4096, 2*4096 + 1} {
		check(n, func() int { return rng.Intn(70) })
	}
}

// Fewer builders than chunks are in use at any time, so that they get each other's.
func TestBuildersShareChunks(t *testing.T) {
	rng := policytest.Rand(t, 66)
	bloom := policytest.Must(NewBloom(10))
	for i := range 50 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			builders := []Builder{bloom.NewBuilder(), bloom.NewBuilder(), bloom.NewBuilder()}
			keys := make([][][]byte, len(builders))
			for range 500 {
				j := rng.Intn(len(builders))
				key := make([]byte, rng.Intn(70))
				rng.Read(key)
				builders[j].Add(key)
				keys[j] = append(keys[j], key)
			}
			for j := range builders {
				require.Equal(t, referenceFilter(10, keys[j]), builders[j].Finish(nil))
			}
		})
	}
}
