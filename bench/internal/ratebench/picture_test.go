package ratebench

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// texts returns the texts of a picture, which must be well-formed XML.
func texts(t *testing.T, records []Record) string {
	var file bytes.Buffer
	require.NoError(t, WritePicture(&file, records))
	require.Contains(t, file.String(), "prefers-color-scheme:dark")
	require.NotRegexp(t, "#000000|Inf|NaN|%!", file.String())
	all := "\n"
	for decoder := xml.NewDecoder(&file); ; {
		token, err := decoder.Token()
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		if data, ok := token.(xml.CharData); ok {
			all += string(data) + "\n"
		}
	}
}

// The charts have the shapes with examples, the kinds, and an engine's own filter where it belongs.
func TestPicture(t *testing.T) {
	c := config(kinds(t, 10, "bloom", "ribbon", "goleveldb", "pebblev2")...)
	c.Ns, c.Sources = []int{36, 1000}, sources(keys.Densities[1:2], "random", "user")
	records, err := c.Run(context.Background())
	require.NoError(t, err)
	records = append(records, Record{Kind: "bloom", Shape: "<own>", N: 36, Bits: 10},
		Record{Kind: "bloom", Shape: "user", N: 8, Bits: 16}) // other bits are not drawn
	first, second, _ := strings.Cut(texts(t, records), "Pebble: 1k keys per filter")
	for _, want := range []string{"random", "user", "user0000000000000042", "<own>",
		"goleveldb: 36 keys per filter", "0.1", "100"} {
		require.Contains(t, first, "\n"+want+"\n")
	}
	for _, want := range []string{"user0000000000000042", "bloom", "ribbon", "Pebble's own",
		"goleveldb's own"} {
		require.Contains(t, second, "\n"+want+"\n")
	}
	require.NotContains(t, first+second, "8 keys")
	require.NotContains(t, texts(t, records[:8]), "Pebble")
}

// A rate is where the axis has it, and lower ones are at its end.
func TestScale(t *testing.T) {
	c := chart{Left: 100, Right: 200}
	require.InDelta(t, 200, c.at(100), 1e-9)
	require.InDelta(t, 100, c.at(0), 1e-9)
	require.InDelta(t, 150, c.at(1.7320508), 1e-6, "half of the digits from 0.03 to 100")
}

// A legend that is too wide goes on in the next line, without losing an entry or showing one twice.
func TestLegend(t *testing.T) {
	var c chart
	for i := range 9 {
		for range 2 {
			c.Series = append(c.Series, series{Name: fmt.Sprint("a long name ", i)})
		}
	}
	entries, below := legend(2.5*(42+letter*float64(len("a long name 0"))), []*chart{&c})
	require.EqualValues(t, 5*20, below)
	require.Len(t, entries, 9)
}

// Each filter has a color and a shape of its own.
func TestLooks(t *testing.T) {
	seen := map[look]bool{other: true}
	for _, name := range []string{"bloom", "tuned", "ribbon", "goleveldb", "pebblev2"} {
		require.False(t, seen[looks[name]], name)
		require.NotEmpty(t, looks[name].Glyph)
		seen[looks[name]] = true
	}
}
