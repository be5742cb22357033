package policy

import (
	"math/bits"
	"slices"
)

// A ribbonWork is the memory for building a filter.
type ribbonWork struct {
	hashes []uint64 // distinct, ascending
	counts []int32
	rows   []ribbonRow
	limits []byte
	spare  []uint64
	tails  []uint64
	last   []tailRow
}

// sort sets hashes to those of k, ascending, each once.
func (w *ribbonWork) sort(k *keyHashes) {
	w.hashes = resize(w.hashes, k.n)
	hashes := w.hashes
	shift := 64 - max(0, bits.Len(uint(k.n))-2) // about 4 to a bucket
	w.counts = resize(w.counts, 1<<(64-shift)+1)
	counts := w.counts
	clear(counts)
	for part := range k.all {
		for _, x := range part {
			counts[x>>shift+1]++
		}
	}
	for i := range counts[1:] {
		counts[i+1] += counts[i]
	}
	for part := range k.all {
		for _, x := range part {
			at := &counts[x>>shift]
			hashes[*at] = x
			*at++
		}
	}
	sortNearly(hashes)
	w.hashes = slices.Compact(hashes)
}

// sortNearly sorts hashes that are nearly in order.
func sortNearly(hashes []uint64) {
	for i, x := range hashes {
		j := i
		for ; j > 0 && hashes[j-1] > x; j-- {
			if i-j > 64 { // chosen hashes
				slices.Sort(hashes)
				return
			}
			hashes[j] = hashes[j-1]
		}
		hashes[j] = x
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/8)
	}
	return s[:n]
}

// build writes the filter of the hashes.
func (w *ribbonWork) build(filter []byte) bool {
	var s ribbonShape
	hashes := w.hashes
	w.rows = w.rows[:0]
	w.limits = w.limits[:0]
	for len(hashes) > ribbonLastMax {
		if s.layers == ribbonLayers {
			return false
		}
		n := (len(hashes) - len(hashes)/32) / ribbonBlock
		s.nblocks[s.layers] = n
		s.layers++
		from := len(w.rows)
		w.rows = slices.Grow(w.rows, n*ribbonBlock)[:from+n*ribbonBlock]
		clear(w.rows[from:])
		limitsFrom := len(w.limits)
		w.limits = slices.Grow(w.limits, nibbleBytes(n))[:limitsFrom+nibbleBytes(n)]
		clear(w.limits[limitsFrom:])
		bumped := insertLayer(w.rows[from:], hashes, n, w.limits[limitsFrom:])
		if len(bumped) > len(hashes)/2 {
			return false
		}
		slices.Sort(bumped)
		hashes = bumped
	}
	s.last = len(hashes)
	if s.last > ribbonDense {
		s.last += s.last / 100
	}
	s.last = max(1, s.last)
	if !s.fit(len(filter) - s.trailer()) {
		return false
	}
	first := s.blocks - s.band
	from := len(w.rows)
	w.rows = slices.Grow(w.rows, s.band*ribbonBlock)[:from+s.band*ribbonBlock]
	var prints [ribbonDense]uint64
	for s.seed = 0; ; s.seed++ {
		if s.seed == ribbonSeeds {
			return false
		}
		if w.insertLast(&s, w.rows[from:], hashes, &prints) {
			break
		}
	}
	base := 0
	for i := range s.layers {
		n := s.nblocks[i]
		covered := min(max(0, s.part-s.last-base*ribbonBlock), n*ribbonBlock)
		s.writeLayer(filter, w.rows[base*ribbonBlock:][:n*ribbonBlock], base, covered, s.flat+s.tail*s.columns+s.last+base*ribbonBlock)
		base += n
	}
	w.writeLast(&s, filter, w.rows[from:], first, &prints)
	copy(filter[s.limits:], w.limits)
	s.putTrailer(filter)
	return true
}

// insertLast inserts the keys into the last layer.
func (w *ribbonWork) insertLast(s *ribbonShape, rows []ribbonRow, hashes []uint64, prints *[ribbonDense]uint64) bool {
	clear(rows)
	w.tails = resize(w.tails, len(rows))
	w.last = w.last[:0]
	later := w.spare[:0]
	if s.band == 0 {
		for _, x := range hashes {
			k := s.lastKey(x)
			w.last = append(w.last, tailRow{k.tail, k.print})
		}
		return solveTail(w.last, s.tail, prints)
	}
	for _, x := range hashes {
		y := x
		if s.seed != 0 {
			y = ribbonMix(x, s.seed)
		}
		later = append(later, y)
	}
	slices.Sort(later)
	w.spare = later
	seed := s.seed
	s.seed = 0
	for _, x := range later {
		k := s.lastKey(x)
		at, band, print, tail := k.start*ribbonBlock, k.band, k.print, k.tail
		for {
			if band == 0 {
				w.last = append(w.last, tailRow{tail, print})
				break
			}
			skip := bits.TrailingZeros64(band)
			at += skip
			band >>= skip
			row := &rows[at]
			if row.band == 0 {
				*row = ribbonRow{band, print}
				w.tails[at] = tail
				break
			}
			band ^= row.band
			print ^= row.print
			tail ^= w.tails[at]
		}
	}
	s.seed = seed
	return solveTail(w.last, s.tail, prints)
}

// writeLast writes the last layer.
func (w *ribbonWork) writeLast(s *ribbonShape, filter []byte, rows []ribbonRow, first int, prints *[ribbonDense]uint64) {
	part := min(s.part, s.last)
	bit := s.flat
	var columns [ribbonColumns + 1]uint64
	for j := range s.columns + 1 {
		n := s.tail
		if j == s.columns {
			n = min(n, part)
		}
		for i := range n {
			columns[j] |= prints[i] >> j & 1 << i
		}
		putBits(filter, bit, columns[j], n)
		bit += s.tail
	}
	if s.band == 0 {
		return
	}
	for i := range rows {
		if rows[i].band != 0 {
			for j, c := range columns[:s.columns+1] {
				rows[i].print ^= uint64(bits.OnesCount64(c&w.tails[i])&1) << j
			}
		}
	}
	covered := max(0, part-s.tail)
	s.writeLayer(filter, rows, first, covered, s.flat+s.tail*s.columns+s.tail)
}
