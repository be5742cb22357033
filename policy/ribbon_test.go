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

// More keys than the format has room for would need more memory than the tests have.
func TestRibbonOfTooManyKeys(t *testing.T) {
	r := testkit.Must(NewRibbon(10))
	require.Greater(t, r.FilterSize(1<<28), uint64(1<<28))
	require.EqualValues(t, 2, r.FilterSize(1<<28+1))
	require.Equal(t, 1.0, r.FPP(1<<28+1))
}
