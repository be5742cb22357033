package main

import (
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

const (
	mapWidth = 64 // cells in a line
	mapLines = 16 // of the map of one filter
)

// shades are cells by the share of their bits that are set, in equal steps from 0 to 100 %.
var shades = []rune("▁▂▃▄▅▆▇█")

const noKeys = '·'

// mapLegend explains the cells.
var mapLegend = fmt.Sprintf("share of bits set, from %c 0 %% to %c 100 %% in steps of %.1f %%; %c no keys",
	shades[0], shades[len(shades)-1], 100/float64(len(shades)), noKeys)

// drawFilters draws how dense the filters of a table are: a cell for each filter, or for each part of a table's only one. If
// that has lines, a part is whole lines.
func drawFilters(w io.Writer, f *tables.Filters) {
	var cells [][][]byte
	var unit string
	if len(f.Each) == 1 {
		bits, lineBytes := bitsOf(f, f.Each[0])
		size := lineBytes * max(1, divideUp(len(bits)/lineBytes, mapWidth*mapLines))
		for part := range slices.Chunk(bits, size) {
			cells = append(cells, [][]byte{part})
		}
		unit = count(size, "byte") + " of the filter"
		if lineBytes > 1 {
			unit = fmt.Sprintf("%s of %d bytes", count(size/lineBytes, "line"), lineBytes)
		}
	} else {
		each := max(1, divideUp(len(f.Each), mapWidth*mapLines))
		var bits [][]byte
		for _, filter := range f.Each {
			b, _ := bitsOf(f, filter)
			bits = append(bits, b)
		}
		cells = slices.Collect(slices.Chunk(bits, each))
		unit = fmt.Sprintf("%s, for windows of %s bytes", count(each, "filter"), window(f.BaseLg))
	}
	fmt.Fprintf(w, "  %s; a cell is %s\n", f.Policy, unit)
	for i, line := range slices.Collect(slices.Chunk(cells, mapWidth)) {
		var drawn strings.Builder
		for _, cell := range line {
			drawn.WriteRune(shade(cell))
		}
		fmt.Fprintf(w, "  %6d  %s\n", i*mapWidth, drawn.String())
	}
}

// bitsOf returns the bit array of a filter, and what its length is a multiple of: the bytes of a line, or 1. A filter whose
// bits tell nothing is taken as it is.
func bitsOf(f *tables.Filters, filter []byte) (bits []byte, lineBytes int) {
	if f.Encoding != nil {
		if s, ok := f.Encoding.Measure(filter); ok {
			return filter[:s.Bits/8], max(1, int(s.LineBits/8))
		}
	}
	return filter, 1
}

func divideUp(n, by int) int { return (n + by - 1) / by }

func shade(cell [][]byte) rune {
	var set, all int
	for _, filter := range cell {
		for _, b := range filter {
			set += bits.OnesCount8(b)
		}
		all += 8 * len(filter)
	}
	if all == 0 {
		return noKeys
	}
	return shades[min(set*len(shades)/all, len(shades)-1)]
}
