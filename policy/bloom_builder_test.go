package policy

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/policytest"
)

// Every k and fractions of a bit, by the builder and by AppendFilter, into memory that is dirty and
// anywhere.
func TestWritersAgainstReference(t *testing.T) {
	rng := policytest.Rand(t, 25)
	settings := []float64{
		math.SmallestNonzeroFloat64, 0.5, 1.45, 1.5, 2.2, 2.9, 9.5, 9.75, 13.37, 43.4, 43.5, 100.25,
	}
	for k := 1; k <= 45; k++ {
		settings = append(settings, float64(k))
	}
	for _, bitsPerKey := range settings {
		b := policytest.Must(NewBloom(bitsPerKey))
		builder := b.NewBuilder()
		for i := range 20 {
			if testing.Short() && i > 2 {
				break
			}
			keys := policytest.Keys(rng, rng.Intn(600))
			if rng.Intn(2) == 0 {
				for i := range keys {
					keys[i] = make([]byte, 16)
					rng.Read(keys[i])
				}
			}
			for _, key := range keys {
				builder.Add(unaligned(rng, key))
			}
			want := referenceFilter(bitsPerKey, keys)
			dirty := bytes.Repeat([]byte{0xff}, rng.Intn(2*len(want)+10))
			prefix := rng.Intn(len(dirty) + 1)
			require.Equal(t, want, builder.Finish(dirty[:prefix])[prefix:],
				"%v bits per key, %d keys", bitsPerKey, len(keys))

			dirty = bytes.Repeat([]byte{0xff}, 2*len(want)+10)
			got := b.AppendFilter(dirty[:prefix], keys)
			require.Equal(t, want, got[prefix:], "%v bits per key, %d keys", bitsPerKey, len(keys))
			require.Equal(t, bytes.Repeat([]byte{0xff}, prefix), got[:prefix])
			requireAnswers(t, want, append(keys, policytest.Keys(rng, 50)...))
		}
	}
}
