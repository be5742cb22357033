package main

import (
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/sstable/filterdump/encoding"
	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

const (
	mapWidth = 64 // cells in a line
	mapLines = 16 // of the map of one filter
)

// shades are cells by the share of their bits that are set, in equal steps from 0 to 100 %.
var shades = []rune("▁▂▃▄▅▆▇█")

const (
	noKeys = '·'
	noBits = '○'
)

// mapLegend explains the cells.
var mapLegend = fmt.Sprintf("share of bits set, from %c 0 %% to %c 100 %% in steps of %.1f %%; %c no keys; %c binary fuse, where bits set mean nothing",
	shades[0], shades[len(shades)-1], 100/float64(len(shades)), noKeys, noBits)

// drawFilters draws how dense the filters of a table are: a cell for each filter, or for each part of a table's only one. If
// that has lines, a part is whole lines.
func drawFilters(w io.Writer, f *tables.Filters) {
	if len(f.Each) == 1 && isFuse(f, f.Each[0]) {
		fmt.Fprintf(w, "  %s; %v has no dense parts, whatever its keys are\n", f.Policy, encoding.BinaryFuse)
		return
	}
	var cells []density
	var unit string
	if len(f.Each) == 1 {
		bits, lineBytes := bitsOf(f, f.Each[0])
		size := lineBytes * max(1, divideUp(len(bits)/lineBytes, mapWidth*mapLines))
		for part := range slices.Chunk(bits, size) {
			var cell density
			cell.add(part)
			cells = append(cells, cell)
		}
		unit = count(size, "byte") + " of the filter"
		if lineBytes > 1 {
			unit = fmt.Sprintf("%s of %d bytes", count(size/lineBytes, "line"), lineBytes)
		}
	} else {
		each := max(1, divideUp(len(f.Each), mapWidth*mapLines))
		for filters := range slices.Chunk(f.Each, each) {
			var cell density
			for _, filter := range filters {
				if isFuse(f, filter) {
					cell.fuse = true
					continue
				}
				bits, _ := bitsOf(f, filter)
				cell.add(bits)
			}
			cells = append(cells, cell)
		}
		unit = fmt.Sprintf("%s, for windows of %s bytes", count(each, "filter"), window(f.BaseLg))
	}
	fmt.Fprintf(w, "  %s; a cell is %s\n", f.Policy, unit)
	for i, line := range slices.Collect(slices.Chunk(cells, mapWidth)) {
		var drawn strings.Builder
		for _, cell := range line {
			drawn.WriteRune(cell.shade())
		}
		fmt.Fprintf(w, "  %6d  %s\n", i*mapWidth, drawn.String())
	}
}

func isFuse(f *tables.Filters, filter []byte) bool {
	return f.Encoding != nil && f.Encoding.Of(filter) == encoding.BinaryFuse
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

// A density is what a cell of the map stands for.
type density struct {
	set, all int  // bits
	fuse     bool // of binary fuse filters too
}

func (d *density) add(array []byte) {
	for _, b := range array {
		d.set += bits.OnesCount8(b)
	}
	d.all += 8 * len(array)
}

func (d density) shade() rune {
	switch {
	case d.all > 0:
		return shades[min(d.set*len(shades)/d.all, len(shades)-1)]
	case d.fuse:
		return noBits
	default:
		return noKeys
	}
}
