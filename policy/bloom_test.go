package policy

import (
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// The example of FORMAT.md: each step, and that the text states these very values.
func TestWorkedExample(t *testing.T) {
	key := []byte("hello")
	h := referenceHash(key)
	require.Equal(t, uint32(0xf795964e), h)
	require.Equal(t, uint32(0xcb277bca), bloom.Delta(h))
	filter := testkit.Must(NewBloom(10)).AppendFilter(nil, [][]byte{key})
	var probes []string
	for i := range uint32(6) {
		probes = append(probes, fmt.Sprint((h+i*bloom.Delta(h))%64))
	}

	format, err := os.ReadFile("FORMAT.md")
	require.NoError(t, err)
	require.Contains(t, string(format), "h = 0xf795964e, delta = 0xcb277bca\n")
	require.Contains(t, string(format), "probes: bits "+strings.Join(probes, ", ")+"\n")
	require.Contains(t, string(format), fmt.Sprintf("filter: % x\n", filter))
	require.Equal(t, "014000010410400006", hex.EncodeToString(filter)) // as C++ LevelDB writes it
}

// The sizes of filters that no test can build, against C++'s formula in big numbers.
func TestSizeIn64Bits(t *testing.T) {
	for _, c := range []struct {
		n          int
		bitsPerKey float64
		want       uint64
	}{
		{4, 1 << 29, 1<<28 + 1},    // 2^31 bits
		{4, 1 << 30, 1<<29 + 1},    // 2^32 bits
		{1 << 30, 8, 1<<30 + 1},    // 2^33 bits
		{429496730, 10, 1<<29 + 2}, // the first n at 10 bits per key whose bits pass 2^32
		{math.MaxInt32, 1 << 30, uint64(math.MaxInt32)<<27 + 1},
		{math.MaxInt32, 1<<30 - 1, (uint64(math.MaxInt32)*(1<<30-1)+7)/8 + 1},
		{math.MaxInt32, 9.5, (20401094647+7)/8 + 1},
	} {
		b := bloomOfBits(c.bitsPerKey)
		require.Equal(t, c.want, b.FilterSize(c.n), "%d keys, %v bits", c.n, c.bitsPerKey)
		if c.want > math.MaxInt {
			require.PanicsWithValue(t,
				fmt.Sprintf("policy: a filter of %d bytes exceeds the memory of this platform", c.want),
				func() { bloom.AppendZeros(nil, &bloomOfBits(c.bitsPerKey).setting, c.n) })
		}
	}
	// More bits than 2^64 do not wrap around.
	require.Greater(t, testkit.Must(NewBloom(2)).FilterSize(math.MaxInt), uint64(math.MaxInt/8))
}
