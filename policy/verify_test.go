package policy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// spoiled returns what a builder makes of the filter of keys after change has changed it.
func spoiled(t *testing.T, kind string, keys [][]byte, change func(filter []byte)) []byte {
	t.Helper()
	built := testkit.Must(of(kind, 10)).AppendFilter([]byte("before"), keys)
	change(built[6:])
	p := testkit.Must(of(kind, 10, WithVerify(), WithCounters()))
	verifying := p.NewBuilder()
	for _, key := range keys {
		verifying.Add(key)
	}
	switch b := verifying.(type) {
	case *bloom.Builder:
		built = b.Buffer.Finish(built, 6, &p.setting)
	case *ribbon.Builder:
		built = b.Buffer.Finish(built, 6, &p.setting)
	}
	require.Equal(t, "before", string(built[:6]))
	replaced := uint64(0)
	if string(built[6:]) == builder.Replacement {
		replaced = 1
	}
	require.Equal(t, Counters{
		Filters: 1, Keys: uint64(len(keys)), Bytes: uint64(len(built) - 6), Replaced: replaced,
	}, p.Counters())
	require.NotContains(t, requireSameAnswers(t, "spoiled", built[6:], keys), false)
	return built[6:]
}

func flip(bit int) func(filter []byte) {
	return func(filter []byte) { filter[bit/8] ^= 1 << (bit % 8) }
}

// Any bit that loses a key is noticed, and any that damages the trailer.
func TestVerifyFindsFlippedBits(t *testing.T) {
	rng := testkit.Rand(t, 91)
	for _, kind := range allKinds {
		p := testkit.Must(of(kind, 10))
		for _, n := range []int{8, 36, 1000} {
			if testing.Short() && n > 36 {
				continue
			}
			keys := testkit.Keys(rng, n)
			filter := p.AppendFilter(nil, keys)
			payload := len(filter) - 1
			if kind == "ribbon" {
				payload = len(filter) - 4
				if n > 700 { // more than one shard
					payload -= 4
				}
			}
			for caught := 0; caught < 20; {
				bit := rng.Intn(8 * payload)
				isSet := filter[bit/8]>>(bit%8)&1 != 0
				got := spoiled(t, kind, keys, flip(bit))
				if !isSet && kind != "ribbon" { // false positives, if anything
					flip(bit)(got)
					require.Equal(t, filter, got)
					continue
				}
				require.Equal(t, builder.Replacement, string(got), "%s, %d keys, bit %d",
					kind, n, bit)
				caught++
			}
			for bit := 8 * payload; bit < 8*len(filter); bit++ {
				got := spoiled(t, kind, keys, flip(bit))
				if kind != "ribbon" && got[len(got)-1] < 6 {
					continue // a smaller k than 6: more false positives
				}
				require.Equal(t, builder.Replacement, string(got), "%s, %d keys, bit %d",
					kind, n, bit)
			}
		}
	}
}
