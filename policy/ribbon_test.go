package policy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

// For few keys the filter is LevelDB's exact one, whatever their order, by any builder. The builder
// keeps LevelDB's hashes of up to mostFew keys.
func TestRibbonOfFewKeys(t *testing.T) {
	rng := policytest.Rand(t, 10)
	for bitsPerKey := 2.0; bitsPerKey <= 40; bitsPerKey += 0.25 {
		r := policytest.Must(NewRibbon(bitsPerKey, WithVerify()))
		exact := policytest.Must(NewBloom(bitsPerKey))
		for n := range mostFew + 20 {
			keys := policytest.Keys(rng, n)
			if !r.areFew(n) {
				filter := r.AppendFilter(nil, keys)
				require.Equal(t, byte(EncodingRibbon), filter[len(filter)-1], "%d keys", n)
				continue
			}
			require.LessOrEqual(t, n, r.few)
			want := exact.AppendFilter(nil, keys)
			require.EqualValues(t, len(want), r.FilterSize(n))
			for _, b := range []Builder{r.NewBuilder(), NewDistinctBuilder(r)} {
				for range 2 { // a builder starts over
					for _, i := range rng.Perm(n) {
						b.Add(keys[i])
					}
					require.Equal(t, want, b.Finish(nil), "%v bits, %d keys", bitsPerKey, n)
				}
			}
		}
	}
	require.Equal(t, 7, policytest.Must(NewRibbon(10)).few)
	require.Equal(t, mostFew, policytest.Must(NewRibbon(2)).few)
}

// Keys with one hash of ours and many of LevelDB: a builder that leaves out repetitions takes them
// for one key. If it does not have all of LevelDB's hashes, it writes a filter that excludes
// nothing.
func TestRibbonOfOneHash(t *testing.T) {
	r := policytest.Must(NewRibbon(2))
	b := NewDistinctBuilder(r)
	var keys [][]byte
	for i := range byte(100) {
		// XXH3 multiplies bytes 0 to 7, which it XORs with its constant, by bytes 8 to 15. These
		// are the constant's.
		key := append([]byte{0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe}, make([]byte, 24)...)
		key[8] = i
		keys = append(keys, key)
		require.Equal(t, keyHash(keys[0]), keyHash(key))
		for _, key := range keys {
			b.Add(key)
		}
		filter := b.Finish(nil)
		require.NotContains(t, requireSameAnswers(t, "one hash", filter, keys), false)
		filter = r.AppendFilter(nil, keys)
		require.NotContains(t, requireSameAnswers(t, "one hash", filter, keys), false)
	}
}

// More keys than the format has room for would need more memory than the tests have.
func TestRibbonOfTooManyKeys(t *testing.T) {
	r := policytest.Must(NewRibbon(10))
	require.Greater(t, r.FilterSize(1<<28), uint64(1<<28))
	require.EqualValues(t, 2, r.FilterSize(1<<28+1))
	require.Equal(t, 1.0, r.FPP(1<<28+1))
}
