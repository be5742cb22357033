package ratebench

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/kind"
	"github.com/levelbloom/levelbloom/bench/report"
)

func fuseKind(width int) kind.Kind { return kind.Kind{Encoding: kind.Fuse, Width: width} }

var blockedKind = kind.Kind{Encoding: kind.Blocked}

// choice returns one in which blocked Bloom has ratio times the rate of fingerprints of 8 bits, with a standard error of 1 % of
// that.
func choice(bits, ratio float64, written kind.Kind) Choice {
	const queries = 256 * 10_000
	var rate Rate
	rate.add(queries, int(math.Round(ratio*10_000)))
	return Choice{2000, bits, rate, 2560, 8, written}
}

// By the description of the format 537 keys have 6 segments of 128 cells, 1000 have 11 of 128, 10,000 have 25 of 512, and 100,000
// have 58 of 2048.
func TestWhatFits(t *testing.T) {
	for n, cells := range map[int]int{537: 6 * 128, 1000: 11 * 128, 10_000: 25 * 512, 100_000: 58 * 2048} {
		got, err := fuseCells(n)
		require.NoError(t, err)
		require.Equal(t, cells, got, n)
	}
	_, err := fuseCells(100)
	require.EqualError(t, err, "100 keys: the builder writes no binary fuse filter: pass more")

	for _, c := range []struct {
		bits  float64
		width int
	}{{10.23, 0}, {10.24, 8}, {15.35, 8}, {15.36, 12}, {20.47, 12}, {20.48, 16}, {30, 16}} {
		require.Equal(t, c.width, longestThatFits(25*512, 10_000, c.bits), c.bits)
	}
}

func TestFewer(t *testing.T) {
	none := choice(10, 0.5, blockedKind)
	none.Width = 0
	narrow := choice(10, 0.5, fuseKind(8)) // where fingerprints of 12 bits fit
	narrow.Width = 12
	for _, c := range []struct {
		name   string
		choice Choice
		fewer  string
		loss   float64
	}{
		{"fuse has fewer, and was written", choice(12, 1.2, fuseKind(8)), "fuse 8", 0},
		{"fuse has fewer, blocked was written", choice(12, 1.2, blockedKind), "fuse 8", 0.2},
		{"blocked has fewer, and was written", choice(12, 0.8, blockedKind), "blocked", 0},
		{"blocked has fewer, fuse was written", choice(12, 0.8, fuseKind(8)), "blocked", 0.25},
		{"2.9 standard errors", choice(12, 1.029, blockedKind), "equal", 0},
		{"3.1 standard errors", choice(12, 1.031, blockedKind), "fuse 8", 0.031},
		{"2.9 standard errors less", choice(12, 0.972, fuseKind(8)), "equal", 0},
		{"3.1 standard errors less", choice(12, 0.97, fuseKind(8)), "blocked", 1/0.97 - 1},
		{"nothing fits", none, "blocked", 0},
		{"too short fingerprints", narrow, "fuse 12", 15},
	} {
		require.Equal(t, c.fewer, c.choice.fewer(), c.name)
		require.InDelta(t, c.loss, c.choice.loss(), 1e-9, c.name)
	}
}

// The logarithm of the ratio is linear between two settings.
func TestCrossing(t *testing.T) {
	between := []Choice{choice(11, 1.5, fuseKind(8)), choice(12, 1.21, fuseKind(8)), choice(13, 1/1.1, blockedKind), choice(14, 0.5, blockedKind)}
	bits, ok := crossing(between, 8)
	require.True(t, ok)
	require.InDelta(t, 12+2.0/3, bits, 1e-3)
	_, ok = crossing(between[:2], 8)
	require.False(t, ok, "never lower")
	_, ok = crossing(between[2:], 8)
	require.False(t, ok, "always lower")
	_, ok = crossing(between, 12)
	require.False(t, ok, "they fit nowhere")
	between[1].Width = 0 // as if nothing fitted
	_, ok = crossing(between[1:], 8)
	require.False(t, ok)
}

func TestCrossingText(t *testing.T) {
	none := choice(9, 3, blockedKind)
	none.Width = 0
	r := CrossingReport{
		Settings: []report.Setting{{Name: "seed", Value: "5"}},
		Choices: []Choice{
			none, choice(10, 2, fuseKind(8)), choice(10.5, 1.9, fuseKind(8)), choice(11, 1.5, fuseKind(8)), choice(12, 1.21, fuseKind(8)),
			choice(13, 1/1.1, fuseKind(8)), choice(14, 0.5, blockedKind),
		},
	}
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b))
	for _, line := range []string{
		"-seed=5 \n",
		"│ 2k keys, bits │ blocked, bits │        blocked │ fits │ its rate │      ratio │ fewer   │ written │               │\n",
		"│             9 │         10.24 │ 1.1719 ±0.0067 │    - │          │            │ blocked │ blocked │               │\n" +
			"│            10 │         10.24 │ 0.7812 ±0.0055 │    8 │   0.3906 │ 2.00 ±0.01 │ fuse 8  │ fuse 8  │               │\n" +
			"│            12 │         10.24 │ 0.4727 ±0.0043 │    8 │   0.3906 │ 1.21 ±0.01 │ fuse 8  │ fuse 8  │               │\n" +
			"│            13 │         10.24 │ 0.3551 ±0.0037 │    8 │   0.3906 │ 0.91 ±0.01 │ blocked │ fuse 8  │ WRONG by 10 % │\n" +
			"│            14 │         10.24 │ 0.1953 ±0.0028 │    8 │   0.3906 │ 0.50 ±0.01 │ blocked │ blocked │               │\n",
		"│ fuse 8                                      │ 12.67 │\n│ fuse 12                                     │     - │\n",
		"Of 7 choices the builder made 6 well; in 0 both rates are equal as far as is known, and 1 is WRONG, those that cost most:\n" +
			"  2k keys, 13 bits per key: fuse 8, where blocked has fewer; 10 % more false positives\n",
	} {
		require.Contains(t, b.String(), line)
	}
	r.Choices = r.Choices[:3]
	b.Reset()
	require.NoError(t, r.WriteText(&b))
	require.Contains(t, b.String(), "Of 3 choices the builder made 3 well; in 0 both rates are equal as far as is known, and 0 are WRONG.\n")
}

// The builder takes binary fuse where it fits, but blocked Bloom just below the next width; and what is measured beside it is
// blocked Bloom, of random keys.
func TestChoices(t *testing.T) {
	c := config()
	c.Ns, c.Bits, c.Queries = []int{2000}, []float64{10, 12, 16}, 200_000
	choices, err := c.Choices(context.Background())
	require.NoError(t, err)
	require.Len(t, choices, 3)
	for i, want := range []struct {
		width   int
		written kind.Kind
	}{{0, blockedKind}, {8, fuseKind(8)}, {8, blockedKind}} {
		got := choices[i]
		require.Equal(t, 2000, got.N)
		require.Equal(t, c.Bits[i], got.Bits)
		require.Equal(t, want.width, got.Width)
		require.Equal(t, want.written, got.Written)
		lines := math.Ceil(got.Bits * 2000 / 512)
		require.Equal(t, int(lines)*64+3, got.Size)
		require.GreaterOrEqual(t, got.Blocked.Queries, c.Queries)
	}
	require.InDelta(t, 0.0098, choices[0].Blocked.Mean(), 0.0015, "below 1 %, above the textbook's 0.84 %")

	c.Ns = []int{2000, 100}
	_, err = c.Choices(context.Background())
	require.ErrorContains(t, err, "100 keys: the builder writes no binary fuse filter")

	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough of it")
	cancel(cause)
	c.Ns = []int{2000}
	_, err = c.Choices(ctx)
	require.ErrorIs(t, err, cause)
}
