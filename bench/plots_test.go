package main

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/filters"
)

// A picture shows a grid on a logarithmic scale, in a color for each column. It is SVG with a white
// ground, for light and dark pages. Each text is anchored where it belongs, so any font will do.
type picture struct {
	grid
	title, axis string
	ticks       []float64             // the first and the last are the ends of the scale
	limit       string                // what limits are
	limits      map[[2]string]float64 // of rows and columns
}

const (
	ink, pale = "#24292f", "#d0d7de"
	bold      = `font-weight="600"`
	middle    = `text-anchor="middle"`
	end       = `text-anchor="end"`
	halo      = `paint-order="stroke" stroke="#fff" stroke-width="4"` // over lines
)

var colors = []string{"#0062a3", "#c84e00", "#5b7f00"} // the color-blind tell them apart

// svg draws the picture. It panics if a value is off the scale.
func (p *picture) svg() string {
	const width, left, right, top, lineHeight = 800, 200, 690, 62, 16
	rowHeight := lineHeight*len(p.columns) + 10
	bottom := top + rowHeight*len(p.rows)
	var b strings.Builder
	text := func(x float64, y int, attributes, s string) {
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%d\" %s>%s</text>\n", x, y+5, attributes,
			html.EscapeString(s))
	}
	line := func(color string, width int, x1 float64, y1 int, x2 float64, y2 int) {
		fmt.Fprintf(&b, "<path stroke=\"%s\" stroke-width=\"%d\" d=\"M%.1f %dL%.1f %d\"/>\n",
			color, width, x1, y1, x2, y2)
	}
	dot := func(color string, x float64, y int) {
		fmt.Fprintf(&b, "<circle fill=\"%s\" cx=\"%.1f\" cy=\"%d\" r=\"4.5\"/>\n", color, x, y)
	}
	low, high := p.ticks[0], p.ticks[len(p.ticks)-1]
	x := func(v float64) float64 {
		if !(low <= v && v <= high) {
			panic(fmt.Sprintf("%v is off the scale of %q", v, p.title))
		}
		return left + math.Log(v/low)/math.Log(high/low)*(right-left)
	}

	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" fill=\"%s\" "+
		"font-family=\"system-ui, 'DejaVu Sans', Arial, sans-serif\" font-size=\"13\">\n"+
		"<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"#fff\"/>\n", width, bottom+44, ink)
	text(14, 18, bold, p.title)
	legend := float64(left)
	for i, name := range p.columns {
		dot(colors[i], legend, 42)
		text(legend+12, 42, "", name)
		legend += 180
	}
	if p.limit != "" {
		line(ink, 3, legend, 35, legend, 49)
		text(legend+12, 42, "", p.limit)
	}
	for _, tick := range p.ticks {
		line(pale, 1, x(tick), top, x(tick), bottom)
		text(x(tick), bottom+12, middle, strconv.FormatFloat(tick, 'f', -1, 64))
	}
	text((left+right)/2, bottom+30, middle, p.axis)
	previous := ""
	for i, row := range p.rows {
		y := top + rowHeight*i
		group, label, _ := strings.Cut(row, ": ")
		if group != previous {
			line(pale, 1, 14, y, right, y)
			text(14, y+rowHeight/2, bold, group)
		}
		previous = group
		text(left-14, y+rowHeight/2, end, label)
		for j, column := range p.columns {
			y, at := y+5+lineHeight/2+lineHeight*j, [2]string{row, column}
			if limit, ok := p.limits[at]; ok {
				line(ink, 3, x(limit), y-7, x(limit), y+7)
			}
			values := p.values[at]
			if len(values) == 0 {
				continue
			}
			to := x(slices.Max(values))
			line(colors[j], 2, x(slices.Min(values)), y, to, y)
			for _, v := range values {
				dot(colors[j], x(v), y)
			}
			text(to+12, y, halo, between(values))
		}
	}
	return b.String() + "</svg>\n"
}

// pictures are those of RESULTS.md.
var pictures = []struct {
	path, files string
	draw        func([]measured) *picture
}{
	{"results/reads.svg", "zen3/engines.json", reads},
	{"results/rates.svg", "zen5/rates.json", rates},
	{"results/times.svg", "*/speed.json", times},
}

// reads shows what lookups of absent keys read in engines.
func reads(files []measured) *picture {
	p := &picture{title: "Data blocks read for 1,000 absent keys",
		axis: "data blocks, logarithmic", ticks: []float64{1, 10, 100, 1000, 10_000}}
	names := map[string]string{"none": "no filter", "builtin": "the engine's own, 10 bits",
		"ribbon:7": "ribbon, 7 bits", "ribbon": "ribbon, 10 bits",
		"ribbon+L6": "ribbon, adapter's Get"}
	engines := map[string]string{"pebblev2": "Pebble v2"}
	for _, n := range files[0].Records.(enginebench.Records).Counted {
		if names[n.Filter] != "" {
			p.add(": "+names[n.Filter], cmp.Or(engines[n.Engine], n.Engine),
				1000*float64(n.Reads)/float64(n.Lookups))
		}
	}
	return p
}

// rates shows how many false positives filters of two sizes have, as a mean of all cells.
func rates(files []measured) *picture {
	p := &picture{title: "False positives among absent keys: the mean of all shapes of keys",
		axis: "% of absent keys, logarithmic", limit: "information limit",
		limits: map[[2]string]float64{}, ticks: []float64{1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10}}
	for _, r := range files[0].Records.([]filters.Rate) {
		if r.N == 36 || r.N == 10_000 {
			row := fmt.Sprintf("%v bits per key: %s", r.Bits, r.Kind)
			column := fmt.Sprintf("%d keys per filter", r.N)
			p.add(row, column, 100*r.FPR)
			p.limits[[2]string{row, column}] = 100 * math.Exp2(-8*r.FilterBytes/float64(r.N))
		}
	}
	for at, rates := range p.values {
		mean := 0.0
		for _, rate := range rates {
			mean += rate / float64(len(rates))
		}
		p.values[at] = []float64{mean}
	}
	return p
}

// times shows how long filters take on processors, from 36 to 1,000,000 keys per filter.
func times(files []measured) *picture {
	p := &picture{title: "Time of filters outside of any database, relative to goleveldb's own",
		axis:  "times as long as with goleveldb's own filter, logarithmic; left is faster",
		ticks: []float64{0.25, 0.5, 1, 2, 4}}
	for _, m := range files {
		for _, r := range m.Records.([]filters.Speed) {
			if r.Contestant != r.Base {
				p.add(r.Work+": "+r.Contestant, m.machine, 1/r.Ratio)
			}
		}
	}
	return p
}
