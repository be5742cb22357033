package policy

import (
	"math/bits"
	"slices"
)

// A distincter makes hashes unique. It keeps its memory for the next time.
type distincter struct {
	levels []*heaps
}

// heaps are hashes that have been dealt out by their highest bits.
type heaps struct {
	hashes []uint64
	ends   [1<<heapLogMost + 1]int // of a heap in hashes; while counting, ends[i+1] is heap i's size, and then ends[i] its beginning
}

const (
	heapSize    = 8  // on average: few enough to be sorted by insertion
	heapLogMost = 10 // heaps that are written side by side should fit into the nearest cache
)

// distinct sorts hashes, and returns those that differ in the same memory.
//
// It is a radix sort, in time proportional to the number of hashes, whatever they are: each of 10,000 or more is dealt out 7
// times at most, and twice if they are hashes of real keys.
func (d *distincter) distinct(hashes []uint64) []uint64 {
	return d.deal(hashes[:0], hashes, 0, 0)
}

// deal appends the distinct ones of hashes to dst, sorted. The hashes agree in the highest bits, of which there are so many. They
// may lie behind dst, in its memory.
func (d *distincter) deal(dst, hashes []uint64, agreed, level int) []uint64 {
	if level == len(d.levels) {
		d.levels = append(d.levels, new(heaps))
	}
	l := d.levels[level]
	width := min(bits.Len(uint(len(hashes)/heapSize)), heapLogMost, 64-agreed)
	ends := l.ends[:1<<width+1]
	clear(ends)
	heap := func(h uint64) uint64 { return h << (agreed & 63) >> 1 >> ((63 - width) & 63) }
	for _, h := range hashes {
		ends[heap(h)+1]++
	}
	for i := range 1 << width {
		ends[i+1] += ends[i]
	}
	l.hashes = slices.Grow(l.hashes[:0], len(hashes))[:len(hashes)]
	dealt := l.hashes
	for _, h := range hashes {
		end := &ends[heap(h)]
		dealt[*end] = h
		*end++
	}
	begin := 0
	for _, end := range ends[:1<<width] {
		few := dealt[begin:end]
		begin = end
		if len(few) > 4*heapSize && agreed+width < 64 {
			dst = d.deal(dst, few, agreed+width, level+1)
			continue
		}
		slices.Sort(few)
		for _, h := range few {
			if len(dst) == 0 || dst[len(dst)-1] != h {
				dst = append(dst, h)
			}
		}
	}
	return dst
}
