package policy

import (
	"math/bits"
	"slices"
	"sync"
)

type ribbonBuilder struct {
	hashBuffer[uint64]
	ribbon *Ribbon
}

func (b *ribbonBuilder) Add(key []byte) {
	h := keyHash(key)
	if b.full() {
		b.grow()
	}
	b.put(h)
}

func (b *ribbonBuilder) Finish(dst []byte) []byte {
	work := ribbonWorks.Get().(*ribbonWork)
	work.parts = work.parts[:0]
	added := b.Len() // before all, since it may leave out repetitions
	for hashes := range b.all {
		work.parts = append(work.parts, hashes)
	}
	work.hashes = work.sort(work.hashes, added)
	hashes := slices.Compact(work.hashes)
	n := len(hashes)
	extended, ok := dst, false
	if b.ribbon.suits(n) {
		var filter []byte
		extended, filter = b.ribbon.extend(dst, b.ribbon.FilterSize(n), n)
		ok = work.write(filter, hashes)
	}
	if !ok {
		var payload []byte
		extended, payload = b.ribbon.blocked.extendFilter(dst, n)
		for hashes := range b.all {
			setBlocked(payload, hashes, b.ribbon.blocked.k)
		}
	}
	if b.ribbon.verify || b.n < ribbonVerified {
		extended = verified(extended, len(dst), &b.hashBuffer, oursHasAll)
	}
	b.reset()
	clear(work.parts[:cap(work.parts)]) // they are other builders' now
	if cap(work.rows) <= keptChunks*chunkHashes {
		ribbonWorks.Put(work)
	}
	return extended
}

// A ribbonWork is memory for the construction of a filter.
type ribbonWork struct {
	hashes []uint64
	later  [2][]uint64 // those of the layers after the first one, by turns
	seeded []uint64    // those of the last layer for one seed
	parts  [][]uint64  // what sort sorts
	counts []int32
	bytes  []byte      // the parameters
	rows   []ribbonRow // of all layers
	tails  []uint64    // of the rows of the last layer
	last   []tailRow
	bumps  []byte
	front  ribbonFront
	tail   tailSystem
}

var ribbonWorks = sync.Pool{New: func() any { return new(ribbonWork) }}

// sort returns the n hashes in parts in ascending order, in the memory of dst if that suffices.
func (w *ribbonWork) sort(dst []uint64, n int) []uint64 {
	dst = resize(dst, n)
	shift := 64 - max(0, bits.Len(uint(n))-2) // about 4 hashes in a bucket
	w.counts = resize(w.counts, 1<<(64-shift)+1)
	counts := w.counts
	clear(counts)
	for _, part := range w.parts {
		for _, x := range part {
			counts[x>>shift+1]++
		}
	}
	for i := range counts[1:] {
		counts[i+1] += counts[i]
	}
	for _, part := range w.parts {
		for _, x := range part {
			at := &counts[x>>shift]
			dst[*at] = x
			*at++
		}
	}
	for i, x := range dst {
		j := i
		for ; j > 0 && dst[j-1] > x; j-- {
			dst[j] = dst[j-1]
			if i-j == 64 { // somebody chose the keys
				dst[j-1] = x
				slices.Sort(dst)
				return dst
			}
		}
		dst[j] = x
	}
	return dst
}

// resize returns a slice of n elements, whatever they contain, in the memory of s if that suffices.
func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// write writes the filter of ascending hashes, over zeroes. It returns false if there is none.
func (w *ribbonWork) write(filter []byte, hashes []uint64) bool {
	var s ribbonShape
	w.rows = resize(w.rows, len(hashes)+len(hashes)/16)[:0] // growing would copy it
	w.bumps = w.bumps[:0]
	for layer := 0; len(hashes) > ribbonLastMax; layer++ {
		if layer == ribbonLayers {
			return false
		}
		n := upperBlocksOf(len(hashes))
		s.appendUpper(n)
		at := len(w.bumps)
		w.bumps = append(w.bumps, make([]byte, bumpBytes(n))...)
		bumped := w.front.insertUpper(w.addRows(n*ribbonBlock), hashes, n, w.bumps[at:])
		if len(bumped) > len(hashes)/2 {
			return false
		}
		w.parts = append(w.parts[:0], bumped)
		w.later[layer%2] = w.sort(w.later[layer%2], len(bumped))
		hashes = w.later[layer%2]
	}
	s.last = lastSlots(len(hashes))
	w.bytes = s.appendParameters(w.bytes[:0])
	payload := len(filter) - trailerTail - len(w.bytes)
	if !s.fit(payload) {
		return false
	}
	upper := len(w.rows)
	last := w.addRows(s.band)
	var columns [ribbonDense]uint64
	for ok := false; !ok; {
		var turn byte
		if turn, columns, ok = w.solveLast(&s, last, hashes); ok {
			s.seed += turn
		} else if s.seed += turns; s.seed == 0 {
			return false
		}
	}
	block, bit := 0, s.flat+s.columns*s.tail+s.last
	for u := s.upper; len(u) > 0; u = u[3:] {
		n := upperBlocks(u)
		first := block * ribbonBlock
		s.writeBlocks(filter, w.rows[first:][:n*ribbonBlock], block, bit+first, s.part-s.last-first)
		block += n
	}
	w.writeLast(&s, filter, w.rows[upper:], block, &columns)
	copy(filter[s.bumps:], w.bumps)
	w.bytes = s.appendParameters(w.bytes[:0]) // with the seed
	appendTrailer(filter[:payload], payload, EncodingRibbon, w.bytes...)
	return true
}

// addRows returns n more rows.
func (w *ribbonWork) addRows(n int) []ribbonRow {
	from := len(w.rows)
	w.rows = slices.Grow(w.rows, n)[:from+n]
	clear(w.rows[from:])
	return w.rows[from:]
}

// solveLast inserts keys into the last layer, and solves its tail.
func (w *ribbonWork) solveLast(
	s *ribbonShape, rows []ribbonRow, hashes []uint64,
) (byte, [ribbonDense]uint64, bool) {
	if s.seed >= turns {
		w.seeded = append(w.seeded[:0], hashes...)
		for i, x := range w.seeded {
			w.seeded[i] = lastHash(x, s.seed)
		}
		if s.band > 0 {
			slices.Sort(w.seeded)
		}
		hashes = w.seeded
	}
	clear(rows)
	w.tails = resize(w.tails, len(rows))
	clear(w.tails)
	w.last = w.last[:0]
	f := &w.front
	f.reset(rows, w.tails)
	insert := func(start int) {
		if s.band > 0 {
			f.insert(start)
		}
		for _, r := range f.group {
			w.last = append(w.last, r.tailRow)
		}
		f.group = f.group[:0]
	}
	first, favoured := 0, 0
	f.group = f.group[:0]
	passes := uint64(1)
	if s.band > 0 && s.part < s.last {
		passes = 2 // the windows of the keys without the last column are later
	}
	for pass := range passes {
		for _, x := range hashes {
			print, band, tail, more, start := s.lastKey(x)
			if passes == 2 && more&1 == pass {
				continue
			}
			favoured += int(more & 1)
			if start != first {
				insert(first)
				first = start
			}
			f.group = append(f.group, bandRow{band, tailRow{tail &^ 3, print}})
		}
	}
	insert(first)
	if s.part < s.last && favoured > s.part {
		return 0, [ribbonDense]uint64{}, false
	}
	return w.tail.solveTail(w.last, s.tail, s.columns+1)
}

// writeLast writes the last layer.
func (w *ribbonWork) writeLast(
	s *ribbonShape, filter []byte, rows []ribbonRow, block int, columns *[ribbonDense]uint64,
) {
	for j, c := range columns[:s.columns+1] {
		n := s.tail
		if j == s.columns {
			n = min(n, s.part)
		}
		putBits(filter, s.flat+j*s.tail, c&(1<<n-1), n)
	}
	for i := range rows {
		tail := w.tails[i] | turn(rows[i].print, s.seed)&(1<<s.tail-1)
		for j, c := range columns[:s.columns+1] {
			rows[i].print ^= parity(c&tail) << j
		}
	}
	part := min(s.part, s.last) - s.tail
	s.writeBlocks(filter, rows, block, s.flat+s.columns*s.tail+s.tail, part)
}
