package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/policy"
)

func example() *Figure {
	points := []XY{{1, 0.01}, {2, 1}}
	c := Chart{Title: "A <title>", X: Axis{Label: "keys", Min: 1, Max: 2},
		Y: Axis{Label: "rate, %", Log: true, Min: 0.01, Max: 1}, Series: []Series{
			{"bloom", LookOf("bloom"), true, false, points},
			{"theory", Other, false, true, points},
			{"ribbon", LookOf("ribbon"), false, false, points}}}
	names := Chart{Title: "second", X: Axis{Max: 1},
		Y: Axis{Names: []Name{{"user", "user0000000000000042"}, {Text: "random"}}}}
	return &Figure{Title: "<script>", Desc: "a & b", Width: 300, Height: 200,
		Charts: []Chart{c, names}}
}

// Both forms are well-formed XML, have the texts, and nothing in them has a fixed black or white.
func TestFigure(t *testing.T) {
	f := example()
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
		{Min: 0, Max: 1.5}, {Min: 4, Max: 20}, {Min: 0, Max: 37}, {Min: 3, Max: 3.1},
		{Log: true, Min: 0.2, Max: 50}, {Log: true, Min: 0.01, Max: 1}, {Log: true, Min: 2, Max: 4},
		{Log: true, Min: 0.5, Max: 1.2}, {Log: true, Min: 1e-5, Max: 40},
	} {
		s := a.scale(100, 300)
		require.GreaterOrEqual(t, len(s.Ticks), 3, "%+v", a)
		require.LessOrEqual(t, len(s.Ticks), 11, "%+v", a)
		for _, tick := range s.Ticks {
			require.NotEmpty(t, tick.Text)
			require.InDelta(t, 200, tick.At, 100.001, "%+v", a)
		}
	}
	log := Axis{Log: true, Min: 0.01, Max: 100}.scale(0, 100)
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
