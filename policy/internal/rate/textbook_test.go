package rate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Answers of the table of Fan, Cao, Almeida and Broder, "Summary Cache" (2000).
func TestTextbook(t *testing.T) {
	for _, c := range []struct {
		bits, k int
		want    float64
	}{{2, 1, 0.393}, {8, 5, 0.0217}, {8, 6, 0.0216}, {10, 7, 0.00819}, {16, 11, 0.000459}} {
		fpp := Textbook(1e6, float64(c.bits)*1e6, c.k)
		require.InEpsilon(t, c.want, fpp, 0.005, "%d bits per key, k = %d", c.bits, c.k)
	}
}
