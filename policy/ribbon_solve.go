package policy

import (
	"encoding/binary"
	"math/bits"
)

// A ribbonRow is an equation of a layer in echelon form, for the slot that it determines. Bit i of
// band is for slot i from the first one of that slot's block on; the slot's own bit is the lowest.
// A row whose band is 0 is none.
type ribbonRow struct{ band, print uint64 }

// A tailRow is an equation of the tail alone.
type tailRow struct{ tail, print uint64 }

// A bandRow is an equation whose window begins at a given block.
type bandRow struct {
	band uint64
	tailRow
}

// A ribbonFront brings the equations of a layer into echelon form, in ascending order of the blocks
// where their windows begin. All equations with the same block take their way together, four
// slots after four: when these have rows, a table says what to add for each of the 16 patterns of
// coefficients (the method of the four Russians).
type ribbonFront struct {
	rows   []ribbonRow
	tails  []uint64 // of the rows; nil if the layer has no tail
	start  int      // the block
	pivots uint64   // bit i: slot i from the block on has a row
	tabled uint16   // bit i: four slots, from slot 4*i on, have a table
	group  []bandRow
	tables [16][16]bandRow // for slots 4*i to 4*i+3 of the layer, table i%16
}

func (f *ribbonFront) reset(rows []ribbonRow, tails []uint64) {
	f.rows, f.tails, f.start, f.pivots, f.tabled = rows, tails, 0, 0, 0
}

// row returns the row of a slot, with the coefficients from the given slot of its block on.
func (f *ribbonFront) row(slot, from int) (r bandRow) {
	r.band, r.print = f.rows[slot].band>>(from&63), f.rows[slot].print
	if f.tails != nil {
		r.tail = f.tails[slot]
	}
	return r
}

// insert adds the equations of f.group, whose windows begin at block start. Those that depend on
// others are left in f.group, without a band. It returns which slots have a row now that had none.
func (f *ribbonFront) insert(start int) (placed uint64) {
	f.pivots >>= min(64, (start-f.start)*ribbonBlock)
	f.tabled >>= min(16, (start-f.start)*ribbonBlock/4)
	f.start = start
	before := f.pivots
	first := 0
	for ; first < 64 && f.pivots>>first&15 == 15; first += 4 {
		f.tabulate(first)
	}
	from, end := start*ribbonBlock/4, start*ribbonBlock/4+first/4
	for i := range f.group {
		r := &f.group[i]
		band, print, tail := r.band, r.print, r.tail
		for j := from; j < end; j++ {
			t := &f.tables[j%16][band&15]
			band = (band ^ t.band) >> 4
			print ^= t.print
			tail ^= t.tail
		}
		r.band, r.print, r.tail = band, print, tail
	}
	for ; first < 64 && len(f.group) > 0; first += 4 {
		done := f.settle(first)
		if done == len(f.group) {
			continue
		}
		table := f.tabulate(first)
		for i := range f.group[done:] {
			r := &f.group[done+i]
			t := &table[r.band&15]
			r.band = (r.band ^ t.band) >> 4
			r.print ^= t.print
			r.tail ^= t.tail
		}
	}
	return f.pivots &^ before
}

// tabulate returns the table of four slots that have rows, from the given one of the window on. The
// coefficients in tables are from the first of the four slots on.
func (f *ribbonFront) tabulate(first int) *[16]bandRow {
	slot := f.start*ribbonBlock + first
	table := &f.tables[slot/4%16]
	if f.tabled>>(first/4)&1 == 0 {
		f.tabled |= 1 << (first / 4)
		for i := 3; i >= 0; i-- {
			r := f.row(slot+i, first%ribbonBlock)
			four := int(r.band & 15)
			for j := 0; j < 16; j += 2 << i {
				sum, t := &table[(j^four)&15], &table[j&15]
				sum.band, sum.print, sum.tail = t.band^r.band, t.print^r.print, t.tail^r.tail
			}
		}
	}
	return table
}

// settle removes coefficients of four slots, from the given one of the window on, from equations of
// f.group, until each of these slots has a row. It returns the number of equations done.
func (f *ribbonFront) settle(first int) (done int) {
	slot, in := f.start*ribbonBlock+first, first%ribbonBlock
	have := f.pivots >> first & 15
	for done < len(f.group) && have != 15 {
		r := f.group[done]
		for {
			if r.band&15 == 0 {
				r.band >>= 4
				f.group[done] = r
				done++
				break
			}
			i := bits.TrailingZeros64(r.band)
			if have>>i&1 == 0 {
				have |= 1 << i
				f.rows[slot+i] = ribbonRow{r.band << in, r.print}
				if f.tails != nil {
					f.tails[slot+i] = r.tail
				}
				last := len(f.group) - 1
				f.group[done] = f.group[last]
				f.group = f.group[:last]
				break
			}
			row := f.row(slot+i, in)
			r.band ^= row.band
			r.print ^= row.print
			r.tail ^= row.tail
		}
	}
	f.pivots |= have << first
	return done
}

// remove removes rows that insert(start) placed.
func (f *ribbonFront) remove(start int, placed uint64) {
	for p := placed; p != 0; p &= p - 1 {
		f.rows[start*ribbonBlock+bits.TrailingZeros64(p)] = ribbonRow{}
	}
	placed >>= min(64, (f.start-start)*ribbonBlock)
	f.pivots &^= placed
	for i := range 16 {
		if placed>>(4*i)&15 != 0 {
			f.tabled &^= 1 << i
		}
	}
}

// insertUpper inserts the keys of ascending hashes into an upper layer of n blocks. The keys of a
// start that do not all fit are bumped to the next layer. A byte of bumps has room for two such
// starts of a bucket; if there is a third one, all from the second one on are bumped. It returns
// the next hashes of the bumped keys in the memory of the hashes.
func (f *ribbonFront) insertUpper(rows []ribbonRow, hashes []uint64, n int, bumps []byte) []uint64 {
	f.reset(rows, nil)
	bumped := hashes[:0]
	type placement struct {
		start  int
		placed uint64
	}
	var since [ribbonBucket]placement // the second bumped start of the bucket
	var second, count int             // where the keys after this start are; how many starts since
	for at, end := 0, 0; at < len(hashes); at = end {
		start := startOf(hashes[at], n)
		f.group = f.group[:0]
		for ; end < len(hashes) && startOf(hashes[end], n) == start; end++ {
			x := hashes[end]
			f.group = append(f.group, bandRow{bandOf(x), tailRow{0, printOf(x)}})
		}
		bump := &bumps[start/ribbonBucket]
		one, two := *bump&15, *bump>>4
		from := at
		if one <= two {
			placed := f.insert(start)
			if len(f.group) == 0 {
				if one != 0 {
					since[count] = placement{start, placed}
					count++
				}
				continue
			}
			f.remove(start, placed)
			number := byte(start%ribbonBucket + 1)
			switch {
			case two == 0:
				*bump = number << 4
			case one == 0:
				*bump = number<<4 | two
				second, count = end, 0
			default:
				*bump = one<<4 | two
				for _, p := range since[:count] {
					f.remove(p.start, p.placed)
				}
				from = second
			}
		}
		for _, x := range hashes[from:end] {
			bumped = append(bumped, mix(x, 0))
		}
	}
	return bumped
}

// A tailSystem is the equations of a tail, by columns: bit i of a word is for row i. One step of
// elimination then takes few instructions for all rows together.
type tailSystem struct {
	slots  [ribbonDense]uint64 // the coefficients
	steps  []tailStep          // so far
	unused uint64              // rows that determine no slot yet
}

// A tailStep adds the row that determines a slot to other rows.
type tailStep struct {
	slot, row int
	others    uint64
}

// eliminate lets rows determine the slots from first to end-1, as far as they can.
func (t *tailSystem) eliminate(first, end int) {
	for slot := first; slot < end && t.unused != 0; slot++ {
		c := t.slots[slot]
		if c&t.unused == 0 {
			continue
		}
		row := bits.TrailingZeros64(c & t.unused)
		others := c &^ (1 << row)
		t.unused &^= 1 << row
		t.steps = append(t.steps, tailStep{slot, row, others})
		addRow(t.slots[slot+1:end], row, others)
	}
}

// addRow adds a row to others, in all columns.
func addRow(columns []uint64, row int, others uint64) {
	for i, c := range columns { // without a branch that depends on a bit
		columns[i] = c ^ others&-(c>>(row&63)&1)
	}
}

// solveTail finds a turn with which the rows do not depend on each other. It returns it, and the
// first columns of the slots with which they hold; slots that the rows do not determine are 0.
func (t *tailSystem) solveTail(rows []tailRow, slots, width int) (
	n byte, columns [ribbonDense]uint64, ok bool,
) {
	if len(rows) > slots {
		return 0, columns, false
	}
	clear(t.slots[len(rows):])
	for i, r := range rows {
		t.slots[i] = r.tail
	}
	transpose(&t.slots)
	turned := min(slots, 2)
	t.steps, t.unused = t.steps[:0], 1<<len(rows)-1
	t.eliminate(turned, slots)
	if bits.OnesCount64(t.unused) > turned {
		return 0, columns, false
	}
	// The prints of the unused rows now: sums of prints of the rows that the steps added to them.
	var prints [2]uint64
	i := 0
	for unused := t.unused; unused != 0; unused &= unused - 1 {
		sum := unused & -unused
		for j := len(t.steps) - 1; j >= 0; j-- {
			sum |= parity(sum&t.steps[j].others) << (t.steps[j].row & 63)
		}
		for ; sum != 0; sum &= sum - 1 {
			prints[i] ^= rows[bits.TrailingZeros64(sum)].print
		}
		i++
	}
	for ; n < turns; n++ {
		a, b := turn(prints[0], n)&(1<<turned-1), turn(prints[1], n)&(1<<turned-1)
		if i == 0 || a != 0 && (i == 1 || b != 0 && a != b) {
			break
		}
	}
	if n == turns {
		return 0, columns, false
	}
	for i, r := range rows {
		columns[i] = r.print
	}
	transpose(&columns)
	for i := range turned {
		t.slots[i] = columns[turnShift+2*int(n)+i]
	}
	for _, s := range t.steps {
		addRow(t.slots[:turned], s.row, s.others)
	}
	t.eliminate(0, turned)
	right := columns
	columns = [ribbonDense]uint64{}
	for _, s := range t.steps {
		addRow(right[:width], s.row, s.others)
	}
	for _, s := range t.steps {
		for j, c := range right[:width] {
			columns[j] |= c >> (s.row & 63) & 1 << (s.slot & 63)
		}
	}
	return n, columns, true
}

// transpose makes bit i of word j bit j of word i, by halves, quarters and so on.
func transpose(a *[64]uint64) {
	for half, mask := 32, uint64(1<<32-1); half > 0; half, mask = half/2, mask^mask<<(half/2) {
		for i := 0; i < 64; i = (i + half + 1) &^ half {
			t := (a[i&63]>>half ^ a[(i+half)&63]) & mask
			a[(i+half)&63] ^= t
			a[i&63] ^= t << half
		}
	}
}

// writeBlocks solves the rows of a layer, whose blocks begin at the given one, and writes them, and
// its part of the last column from bit on, which has so many slots.
func (s *ribbonShape) writeBlocks(filter []byte, rows []ribbonRow, block, bit, part int) {
	var windows [ribbonColumns + 4]uint64 // of every column, the 64 slots from the current block on
	for i := len(rows)/ribbonBlock - 1; i >= 0; i-- {
		of := rows[i*ribbonBlock:][:ribbonBlock]
		at := filter[2*(block+i)*s.columns:]
		for j := 0; j <= s.columns; j += 4 {
			w := windows[j:][:4]
			w0, w1 := w[0]<<ribbonBlock, w[1]<<ribbonBlock
			w2, w3 := w[2]<<ribbonBlock, w[3]<<ribbonBlock
			for slot := ribbonBlock - 1; slot >= 0; slot-- {
				band, print := of[slot].band, of[slot].print>>(j&63)
				w0 |= (parity(w0&band) ^ print) & 1 << (slot & 63)
				w1 |= (parity(w1&band) ^ print>>1) & 1 << (slot & 63)
				w2 |= (parity(w2&band) ^ print>>2) & 1 << (slot & 63)
				w3 |= (parity(w3&band) ^ print>>3) & 1 << (slot & 63)
			}
			w[0], w[1], w[2], w[3] = w0, w1, w2, w3
		}
		for j, w := range windows[:s.columns] {
			binary.LittleEndian.PutUint16(at[2*j:], uint16(w))
		}
		if first := i * ribbonBlock; part > first {
			n := min(part-first, ribbonBlock)
			putBits(filter, bit+first, windows[s.columns]&(1<<n-1), n)
		}
	}
}

// putBits sets n bits from bit on, which are 0, to the lowest ones of word. The others of word
// must be 0.
func putBits(filter []byte, bit int, word uint64, n int) {
	at, skip := filter[bit/8:], bit%8
	for i := 0; 8*i < n+skip; i++ {
		at[i] |= byte(word << skip >> (8 * i))
	}
	if n+skip > 64 {
		at[8] = byte(word >> (64 - skip))
	}
}
