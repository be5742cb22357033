package chart

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/levelbloom/levelbloom/bench/internal/kind"
)

func figure(t *testing.T) *Figure {
	c := New("A <title>", "keys", "rate, %")
	points := plotter.XYs{{X: 1, Y: 0.01}, {X: 2, Y: 1}}
	require.NoError(t, c.Line("exact", LookOf("exact"), points))
	require.NoError(t, c.Dashed("theory", Other, Dashes, points))
	require.NoError(t, c.Points("", LookOf("ribbon"), points))
	require.NoError(t, c.Band("spread", LookOf("exact"), points, points))
	require.NoError(t, c.Bar(Other, 1, 0.5, 1, 1.5))
	c.LogY(0.01, 1)
	c.MarkX(1.5, "capacity")
	c.MarkY(0.5, "target")
	return &Figure{Title: "<script>", Desc: "a & b", Width: 10 * vg.Centimeter,
		Height: 6 * vg.Centimeter, Charts: []*Chart{c, New("second", "", "")}}
}

// Both forms are well-formed XML, have the texts, and nothing in them has a fixed black or white.
func TestFigure(t *testing.T) {
	f := figure(t)
	var file bytes.Buffer
	_, err := f.WriteTo(&file)
	require.NoError(t, err)
	for _, svg := range []string{string(f.Inline()), file.String()} {
		texts := ""
		for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
			token, err := decoder.Token()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			if data, ok := token.(xml.CharData); ok {
				texts += string(data) + "\n"
			}
		}
		for _, want := range []string{"<script>\n", "a & b\n", "A <title>\n", "keys\n",
			"rate, %\n", "\nexact\n", "\ntheory\n", "\nspread\n", "capacity\n", "target\n",
			"\n0.01\n", "\n0.05\n", "\n1\n", "second\n"} {
			require.Contains(t, texts, want)
		}
		require.NotContains(t, svg, "<script")
		require.NotContains(t, svg, "#000000")
		require.NotContains(t, svg, "#FFFFFF")
		require.NotContains(t, svg, "Infinity")
		require.NotContains(t, svg, "NaN")
		require.NotContains(t, svg, "%!")
	}
	require.Contains(t, file.String(), "prefers-color-scheme:dark")
	require.NotContains(t, string(f.Inline()), "<style")
}

// Each kind has a color and a shape of its own.
func TestLooks(t *testing.T) {
	seen := map[Look]string{}
	for _, k := range kind.All {
		look := LookOf(k.Name)
		require.NotEqual(t, Other, look, k.Name)
		require.Empty(t, seen[look], k.Name)
		seen[look] = k.Name
	}
	require.Equal(t, Other, LookOf("none"))
}

// Only the axis's arithmetic mean is out of order, which is where Gonum looks for its label.
func TestLogScale(t *testing.T) {
	require.Equal(t, 0.5, logScale{}.Normalize(0.01, 100, 0.5*(100+0.01)))
	require.InDelta(t, 0.5, logScale{}.Normalize(0.01, 100, 1), 1e-9)
	require.InDelta(t, 0.75, logScale{}.Normalize(0.01, 100, 10), 1e-9)
}

// A legend that is too wide goes on in the next line, without losing an entry.
func TestRows(t *testing.T) {
	var entries []entry
	for range 9 {
		entries = append(entries, entry{name: "a long name"})
	}
	width := 2.5 * entries[0].width()
	lines := rows(entries, width)
	require.Len(t, lines, 5)
	for _, line := range lines[:4] {
		require.Len(t, line, 2)
	}
	require.Empty(t, rows(nil, width))
}
