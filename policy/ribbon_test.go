package policy

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// The table in the comment of NewRibbon: each cell is the largest FPP of all filters in its range,
// rounded by less than 1 %.
func TestTableOfNewRibbon(t *testing.T) {
	source, err := os.ReadFile("ribbon.go")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^//\t(\d+) +([\d. ]+)$`).FindAllStringSubmatch(string(source), -1)
	require.Len(t, rows, 3)
	for _, row := range rows {
		p := testkit.Must(FromString("ribbon:" + row[1]))
		cells := strings.Fields(row[2])
		require.Len(t, cells, 5)
		for i, most := range []float64{
			math.Exp2(-p.setting.BitsPerKey),
			mostFPP(p, 1, 700), mostFPP(p, 701, 4999), mostFPP(p, 5000, 1<<28),
		} {
			want, err := strconv.ParseFloat(cells[i], 64)
			require.NoError(t, err)
			require.InEpsilon(t, want, 100*most, 0.01, "%v, column %d", p, i)
		}
		require.Equal(t, cells[4], fmt.Sprint(p.FilterSize(1000)))
	}
}

func mostFPP(p *Policy, from, to int) (most float64) {
	for n := from; n <= to; n += 1 + n/5000 {
		most = max(most, p.FPP(n))
	}
	return most
}

// Keys with one hash count as one with a builder that leaves out repetitions. None is lost.
func TestRibbonOfOneHash(t *testing.T) {
	p := testkit.Must(NewRibbon(2))
	b := p.NewDistinctBuilder()
	var keys [][]byte
	for i := range byte(100) {
		// XXH3 multiplies bytes 0 to 7, which it XORs with its constant, by bytes 8 to 15. These
		// are the constant's.
		key := append([]byte{0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe}, make([]byte, 24)...)
		key[8] = i
		keys = append(keys, key)
		require.Equal(t, ribbon.Hash(keys[0]), ribbon.Hash(key))
		b.Add(key)
	}
	require.Equal(t, 1, b.Len())
	for _, filter := range [][]byte{b.Finish(nil), p.AppendFilter(nil, keys)} {
		require.NotContains(t, requireSameAnswers(t, "one hash", filter, keys), false)
	}
}

// More keys than the format has room for would need more memory than the tests have.
func TestRibbonOfTooManyKeys(t *testing.T) {
	r := testkit.Must(NewRibbon(10))
	require.Greater(t, r.FilterSize(1<<28), uint64(1<<28))
	require.EqualValues(t, 2, r.FilterSize(1<<28+1))
	require.Equal(t, 1.0, r.FPP(1<<28+1))
}
