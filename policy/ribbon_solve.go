package policy

import (
	"encoding/binary"
	"math/bits"
)

// A ribbonRow is an equation of a layer in echelon form: the first slot that has a coefficient,
// bit 0 of band, is the one that it determines. A slot whose band is 0 has none.
type ribbonRow struct{ band, print uint64 }

// A tailRow is an equation of the tail alone.
type tailRow struct{ tail, print uint64 }

// insert adds an equation whose slots begin at the given one. It returns the slot that the equation
// determines; or -1 if those before determine all of its slots.
func insert(rows []ribbonRow, slot int, band, print uint64) int {
	for band != 0 {
		skip := bits.TrailingZeros64(band)
		slot += skip
		band >>= skip & 63
		row := &rows[slot]
		if row.band == 0 {
			*row = ribbonRow{band, print}
			return slot
		}
		band ^= row.band
		print ^= row.print
	}
	return -1
}

// insertUpper inserts the keys of ascending hashes into an upper layer of n blocks, bucket by
// bucket, from the last start to the first one in each: the bucket before overlaps the slots of its
// first starts. If keys of a start do not fit, all keys of the bucket up to this start are bumped
// to the next layer; the threshold in limits says so. It returns their next hashes in the memory of
// the hashes.
func insertUpper(rows []ribbonRow, hashes []uint64, n int, limits []byte) (bumped []uint64) {
	bumped = hashes[:0]
	var slots []int // that keys of the same start determine
	for len(hashes) > 0 {
		bucket := startOf(hashes[0], n) / ribbonBucket
		size := 1
		for size < len(hashes) && startOf(hashes[size], n)/ribbonBucket == bucket {
			size++
		}
		i, start := size, -1
		for i > 0 {
			x := hashes[i-1]
			if at := startOf(x, n); at != start {
				start, slots = at, slots[:0]
			}
			slot := insert(rows, start*ribbonBlock, bandOf(x), printOf(x))
			if slot < 0 {
				for _, slot := range slots {
					rows[slot] = ribbonRow{}
				}
				limits[bucket/2] |= byte(start%ribbonBucket+1) << (bucket % 2 * 4)
				i += len(slots)
				break
			}
			slots = append(slots, slot)
			i--
		}
		for _, x := range hashes[:i] {
			bumped = append(bumped, mix(x, 0))
		}
		hashes = hashes[size:]
	}
	return bumped
}

// eliminate brings the rows from done on into echelon form for the slots from first to end-1, in
// this order, and appends the slots that they determine to pivots.
func eliminate(rows []tailRow, pivots []int, first, end int) []int {
	for slot := first; slot < end && len(pivots) < len(rows); slot++ {
		done := len(pivots)
		for i := done; i < len(rows); i++ {
			if rows[i].tail>>slot&1 == 0 {
				continue
			}
			r := rows[i]
			rows[i] = rows[done]
			rows[done] = r
			pivots = append(pivots, slot)
			rest := rows[i+1:]
			for j := range rest { // without a branch that depends on a coefficient
				mask := -(rest[j].tail >> (slot & 63) & 1)
				rest[j].tail ^= r.tail & mask
				rest[j].print ^= r.print & mask
			}
			break
		}
	}
	return pivots
}

// solveTail finds a turn with which the rows do not depend on each other. It returns it, and the
// slots' prints with which they hold; those that the rows do not determine are 0.
func solveTail(rows []tailRow, slots int) (n byte, prints [ribbonDense]uint64, ok bool) {
	if len(rows) > slots {
		return 0, prints, false
	}
	var buffer [ribbonDense]int
	turned := min(slots, 2)
	pivots := eliminate(rows, buffer[:0], turned, slots)
	done := len(pivots)
	for ; n < turns && !ok; n++ {
		var rest [2]tailRow
		m := copy(rest[:], rows[done:])
		for i := range rest[:m] {
			rest[i].tail = turn(rest[i].print, n) & (1<<turned - 1)
		}
		ok = m == len(rows)-done && len(eliminate(rest[:m], nil, 0, turned)) == m
	}
	if !ok {
		return 0, prints, false
	}
	n--
	for i := range rows {
		rows[i].tail |= turn(rows[i].print, n) & (1<<turned - 1)
	}
	rest := eliminate(rows[done:], buffer[done:done], 0, turned)
	pivots = buffer[:done+len(rest)]
	for i := len(pivots) - 1; i >= 0; i-- {
		slot, print := pivots[i], rows[i].print
		prints[slot] = print
		for j := range rows[:i] {
			rows[j].print ^= print & -(rows[j].tail >> (slot & 63) & 1)
		}
	}
	return n, prints, true
}

// writeBlocks solves the rows of a layer, whose blocks begin at the given one, and writes them, and
// its part of the last column from bit on, which has so many slots.
func (s *ribbonShape) writeBlocks(filter []byte, rows []ribbonRow, block, bit, part int) {
	var state [ribbonColumns + 1]uint64 // of every column, 63 slots after the current one and it
	columns := state[:s.columns+1]
	for i := len(rows)/ribbonBlock - 1; i >= 0; i-- {
		first := i * ribbonBlock
		for slot := first + ribbonBlock - 1; slot >= first; slot-- {
			band, print := rows[slot].band>>1, rows[slot].print
			if rows[slot].band == 0 {
				print = 0
			}
			for j, z := range columns {
				columns[j] = z<<1 | (uint64(bits.OnesCount64(z&band))^print)&1
				print >>= 1
			}
		}
		at := filter[2*(block+i)*s.columns:]
		for j, z := range columns[:s.columns] {
			binary.LittleEndian.PutUint16(at[2*j:], uint16(z))
		}
		if part > first {
			n := min(part-first, ribbonBlock)
			putBits(filter, bit+first, columns[s.columns]&(1<<n-1), n)
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
