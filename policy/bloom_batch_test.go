package policy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

// Present and absent keys in turns of a few hundred, so that the way of testing changes.
func TestMayContainManyInTurns(t *testing.T) {
	rng := policytest.Rand(t, 30)
	present, absent := policytest.Keys(rng, 5000), policytest.Keys(rng, 5000)
	filter := policytest.Must(NewBloom(10)).AppendFilter(nil, present)
	var keys [][]byte
	for i, k := 0, 0; i < 5000; i = k {
		k = min(i+1+rng.Intn(400), 5000)
		keys = append(keys, present[i:k]...)
		keys = append(keys, absent[i:k]...)
	}
	requireAnswers(t, filter, keys)
}

func TestMayContainManyRefusesTooLittleRoom(t *testing.T) {
	bloom := policytest.Must(NewBloom(10))
	keys := [][]byte{{1}, {2}, {3}}
	filter := bloom.AppendFilter(nil, keys)
	for _, r := range []ourReader{bloom, Count(bloom), Count(absentPolicy{bloom})} {
		out := make([]bool, 2, 3)
		require.PanicsWithValue(t,
			"policy: MayContainMany of 3 keys with room for 2 answers: make out as long as keys",
			func() { r.MayContainMany(filter, keys, out) })
		require.Equal(t, []bool{false, false, false}, out[:3], "nothing is set")
		r.MayContainMany(filter, nil, nil)
	}
}

func TestMayContainManyAllocations(t *testing.T) {
	bloom := policytest.Must(NewBloom(10))
	keys := policytest.Keys(policytest.Rand(t, 31), 1000)
	filter := bloom.AppendFilter(nil, keys)
	out := make([]bool, len(keys))
	for _, r := range []ourReader{bloom, Count(bloom)} {
		require.Zero(t, testing.AllocsPerRun(10, func() { r.MayContainMany(filter, keys, out) }))
	}
}

func TestCountedMany(t *testing.T) {
	bloom := policytest.Must(NewBloom(10))
	keys := [][]byte{{1}, {2}, {3}}
	filter := bloom.AppendFilter(nil, keys[:1])
	out := []bool{true, true, true, true}
	c := Count(bloom)
	c.MayContainMany(filter, keys, out)
	require.Equal(t, []bool{true, false, false, true}, out)
	require.Equal(t, Counters{MayContain: 1, ReadsAvoided: 2}, c.Snapshot())

	c = Count(absentPolicy{bloom}) // not ours: asked key by key
	c.MayContainMany(filter, keys, out)
	require.Equal(t, []bool{false, false, false, true}, out)
	require.Equal(t, Counters{ReadsAvoided: 3}, c.Snapshot())
}

// Both ways of testing say how many keys they found, by which MayContainMany chooses between them.
func TestFound(t *testing.T) {
	rng := policytest.Rand(t, 32)
	present := policytest.Keys(rng, hashGroup)
	filter := policytest.Must(NewBloom(10)).AppendFilter(nil, present)
	array, k := newBitArray(filter), int(filter[len(filter)-1])
	for n := range hashGroup + 1 {
		keys := append(policytest.Keys(rng, hashGroup-n), present[:n]...)
		hashes, out := make([]uint32, len(keys)), make([]bool, len(keys))
		hashKeys(hashes, keys)
		want := 0
		for _, key := range keys {
			if MayContain(filter, key) {
				want++
			}
		}
		require.Equal(t, want, array.testStaged(hashes, k, out))
		require.Equal(t, want, array.testEager(hashes, k, out))
	}
}
