package policy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// The table in the comment of WithTuning: each cell is within a tenth of the measured rate, or
// within 0.1 %.
func TestTableOfWithTuning(t *testing.T) {
	testkit.Large(t)
	source, err := os.ReadFile("options.go")
	require.NoError(t, err)
	table := regexp.MustCompile(`(?m)^//\t(\S+) +(\d[\d./ ]+/.*)$`)
	rows := table.FindAllStringSubmatch(string(source), -1)
	require.Len(t, rows, 5)
	for _, row := range rows {
		cells := regexp.MustCompile(`([\d.]+) / ([\d.]+)`).FindAllStringSubmatch(row[2], -1)
		require.Len(t, cells, 7)
		for i, n := range []int{8, 20, 36, 51, 100, 500, 2000} {
			rng := testkit.Rand(t, int64(n))
			for j, p := range []*Policy{
				testkit.Must(NewBloom(10)), testkit.Must(NewBloom(10, WithTuning())),
			} {
				want, err := strconv.ParseFloat(cells[i][1+j], 64)
				require.NoError(t, err)
				got := 100 * rateOfNumbers(p, row[1], n, rng)
				require.InDelta(t, want, got, max(0.1, want/10), "%v, %d keys like %s", p, n, row[1])
			}
		}
	}
}

// rateOfNumbers returns the false-positive rate of absent numbers between present ones, in filters
// of n numbers of which 63 % are present. With shape "beyond" it is that of the numbers after them.
func rateOfNumbers(p *Policy, shape string, n int, rng *rand.Rand) float64 {
	found, asked := 0, 0
	for asked < 1_000_000 {
		var keys, absent [][]byte
		i := uint64(rng.Int63n(1e9))
		for ; len(keys) < n; i++ {
			key := numberKey(shape, i)
			if shape == "random" {
				key = make([]byte, 16)
				rng.Read(key)
			}
			if rng.Intn(100) < 63 {
				keys = append(keys, key)
			} else {
				absent = append(absent, key)
			}
		}
		if shape == "beyond" {
			absent = absent[:0]
			for range n {
				absent = append(absent, numberKey(shape, i))
				i++
			}
		}
		slices.SortFunc(keys, bytes.Compare)
		filter := p.AppendFilter(nil, keys)
		for _, key := range absent {
			if p.MayContain(filter, key) {
				found++
			}
		}
		asked += len(absent)
	}
	return float64(found) / float64(asked)
}

func numberKey(shape string, i uint64) []byte {
	if strings.HasPrefix(shape, "%") {
		return fmt.Appendf(nil, shape, i)
	}
	return binary.BigEndian.AppendUint64(nil, i)
}
