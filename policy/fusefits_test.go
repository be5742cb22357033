package policy

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table in NewBinaryFuse's comment: fingerprints of that length fit for all numbers of keys from there on, and not always
// before. A filter's size per key falls so slowly that 2 million keys show all that is to come.
func TestFuseFits(t *testing.T) {
	source, err := os.ReadFile("fuse.go")
	require.NoError(t, err)
	text := strings.Join(strings.Fields(strings.ReplaceAll(string(source), "//", "")), " ")
	widths := []int{8, 12, 16}
	rows := []struct {
		keys       int
		bitsPerKey [3]float64 // for these widths
	}{{2_000, [3]float64{11.6, 17.4, 23.2}}, {5_300, [3]float64{11, 16.5, 22}}, {41_000, [3]float64{10, 15, 20}}, {850_000, [3]float64{9.1, 13.65, 18.2}}}
	for _, row := range rows {
		b := row.bitsPerKey
		require.Contains(t, text, fmt.Sprintf(" %d,%03d %v %v %v ", row.keys/1000, row.keys%1000, b[0], b[1], b[2]))
	}
	var last [4][3]int // number of keys for which they do not fit
	for n := 1; n < 2_000_000; n++ {
		cells := fuseGeometryOf(n).cells()
		for i, row := range rows {
			for j, width := range widths {
				if cells*uint64(width) > filterBytes(n, row.bitsPerKey[j])*8 {
					last[i][j] = n
				}
			}
		}
	}
	for i, row := range rows {
		for j, width := range widths {
			require.Less(t, last[i][j], row.keys, "%d bits, %v per key", width, row.bitsPerKey[j])
			require.Greater(t, last[i][j], row.keys*9/10, "%d bits, %v per key", width, row.bitsPerKey[j])
			p := mustFuse(t, row.bitsPerKey[j])
			for n := row.keys; n < row.keys+3_000; n++ { // and blocked Bloom is no better
				require.GreaterOrEqual(t, p.width(n), width, "%d keys", n)
			}
		}
	}
}
