package chart

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/kind"
)

func figure() *Figure {
	c := New("A <title>", "keys", "rate, %")
	points := []XY{{1, 0.01}, {2, 1}}
	c.Add(Series{"bloom", LookOf("bloom"), Line, points})
	c.Add(Series{"theory", Other, Dashes, points})
	c.Add(Series{"", LookOf("ribbon"), Points, points})
	c.Y.Log, c.Y.Min, c.Y.Max = true, 0.01, 1
	names := New("second", "", "")
	names.Y.Names = []Name{{"user", "user0000000000000042"}, {Text: "random"}}
	return &Figure{Title: "<script>", Desc: "a & b", Width: 300, Height: 200,
		Charts: []*Chart{c, names}}
}

// Both forms are well-formed XML, have the texts, and nothing in them has a fixed black or white.
func TestFigure(t *testing.T) {
	f := figure()
	var file bytes.Buffer
	require.NoError(t, f.Write(&file))
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
			"rate, %\n", "\nbloom\n", "\ntheory\n",
			"\n0.01\n", "\n0.03\n", "\n1\n", "second\n", "\nuser\n", "\nuser0000000000000042\n"} {
			require.Contains(t, texts, want)
		}
		require.NotContains(t, svg, "<script")
		require.NotRegexp(t, "#000000|Inf|NaN|%!", svg)
	}
	require.Contains(t, file.String(), "prefers-color-scheme:dark")
	require.NotContains(t, string(f.Inline()), "<style")
}

// Each filter has a color and a shape of its own.
func TestLooks(t *testing.T) {
	seen := map[Look]string{}
	for _, k := range append(kind.All, kind.Own...) {
		look := LookOf(k.Name)
		require.NotEqual(t, Other, look, k.Name)
		require.Empty(t, seen[look], k.Name)
		seen[look] = k.Name
	}
	require.Equal(t, Other, LookOf("none"))
}

// Every axis has three labels or more, within its ends, and places are between its pixels.
func TestAxes(t *testing.T) {
	for _, a := range []Axis{
		{Min: 0, Max: 1.5}, {Min: 4, Max: 20}, {Min: 0, Max: 37}, {Min: 3, Max: 3.1}, {},
		{Log: true, Min: 0.2, Max: 50}, {Log: true, Min: 0.01, Max: 1}, {Log: true, Min: 2, Max: 4},
		{Log: true, Min: 1.1, Max: 1.3}, {Log: true, Min: 1e-5, Max: 40}, {Log: true, Min: 1, Max: 1},
	} {
		s := a.scale(100, 300, []float64{a.Min})
		require.GreaterOrEqual(t, len(s.ticks), 3, "%+v", a)
		require.LessOrEqual(t, len(s.ticks), 11, "%+v", a)
		for _, tick := range s.ticks {
			require.NotEmpty(t, tick.Text)
			require.InDelta(t, 200, s.at(tick.at), 100.001, "%+v at %v", a, tick.at)
		}
	}
	log := Axis{Log: true, Min: 0.01, Max: 100}.scale(0, 100, nil)
	require.InDelta(t, 75, log.at(10), 1e-9)
	require.Equal(t, "100k", newTick(100_000).Text)
	require.Equal(t, "0.3", newTick(3*0.1).Text)
}

// A legend that is too wide goes on in the next line, without losing an entry or showing one twice.
func TestLegend(t *testing.T) {
	c := New("", "", "")
	for i := range 9 {
		for range 2 {
			c.Add(Series{Name: "a long name " + string(rune('0'+i)), Points: []XY{{0, 0}}})
		}
	}
	f := Figure{Charts: []*Chart{c}}
	legend, rows := f.legend(2.5 * (42 + letter*float64(len("a long name 0"))))
	require.Equal(t, 5, rows)
	require.Equal(t, 9, strings.Count(legend, "a long name"))
}
