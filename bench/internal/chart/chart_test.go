package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/policy"
)

func example() *Figure {
	points := []XY{{1, 0.01}, {2, 1}}
	c := Chart{Title: "A <title>", X: Axis{Label: "keys", Min: 1, Max: 2},
		Y: Axis{Label: "rate, %", Min: 0.01, Max: 1}, Series: []Series{
			{"bloom", LookOf("bloom"), points},
			{"theory", Other, points},
			{"ribbon", LookOf("ribbon"), points}}}
	names := Chart{Title: "second", X: Axis{Min: 1, Max: 2},
		Y: Axis{Names: []Name{{"user", "user0000000000000042"}, {Text: "random"}}}}
	return &Figure{Title: "<script>", Desc: "a & b", Width: 300, Height: 200,
		Charts: []Chart{c, names}}
}

// A figure is well-formed XML, has the texts, and nothing in it has a fixed black or white.
func TestFigure(t *testing.T) {
	var file bytes.Buffer
	require.NoError(t, example().Write(&file))
	svg, texts := file.String(), ""
	for decoder := xml.NewDecoder(&file); ; {
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
	require.Contains(t, svg, "prefers-color-scheme:dark")
}

// Each filter has a color and a shape of its own.
func TestLooks(t *testing.T) {
	seen := map[Look]string{}
	names := slices.Clone(kind.Own)
	for _, k := range policy.Kinds() {
		names = append(names, k.Name)
	}
	for _, name := range names {
		look := LookOf(name)
		require.NotEqual(t, Other, look, name)
		require.Empty(t, seen[look], name)
		seen[look] = name
	}
	require.Equal(t, Other, LookOf("none"))
}

// Every axis has three labels or more, within its ends, and places are between its pixels.
func TestAxes(t *testing.T) {
	for _, a := range []Axis{
		{Min: 0.2, Max: 50}, {Min: 0.01, Max: 1}, {Min: 2, Max: 4},
		{Min: 0.5, Max: 1.2}, {Min: 1e-5, Max: 40},
	} {
		s := a.scale(100, 300)
		require.GreaterOrEqual(t, len(s.Ticks), 3, "%+v", a)
		require.LessOrEqual(t, len(s.Ticks), 11, "%+v", a)
		for _, tick := range s.Ticks {
			require.NotEmpty(t, tick.Text)
			require.InDelta(t, 200, tick.At, 100.001, "%+v", a)
		}
	}
	log := Axis{Min: 0.01, Max: 100}.scale(0, 100)
	require.InDelta(t, 75, log.at(10), 1e-9)
}

// A legend that is too wide goes on in the next line, without losing an entry or showing one twice.
func TestLegend(t *testing.T) {
	var c Chart
	for i := range 9 {
		for range 2 {
			c.Series = append(c.Series, Series{Name: fmt.Sprint("a long name ", i)})
		}
	}
	f := Figure{Charts: []Chart{c}}
	entries, height := f.legend(2.5 * (42 + letter*float64(len("a long name 0"))))
	require.EqualValues(t, 5*20, height)
	require.Len(t, entries, 9)
}
