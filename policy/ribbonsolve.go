package policy

import (
	"encoding/binary"
	"math/bits"
)

// A ribbonRow is an equation whose first coefficient, bit 0 of band, belongs to the slot that it
// determines. A row whose band is 0 is free.
type ribbonRow struct{ band, print uint64 }

// insert brings an equation, whose first slot is rows[at], into echelon form, and returns the slot
// that it determines; or -1 if it depends on those before.
func insert(rows []ribbonRow, at int, band, print uint64) int {
	for band != 0 {
		skip := bits.TrailingZeros64(band)
		at += skip
		band >>= skip
		row := &rows[at]
		if row.band == 0 {
			*row = ribbonRow{band, print}
			return at
		}
		band ^= row.band
		print ^= row.print
	}
	return -1
}

// insertLayer inserts the keys of sorted hashes into a layer of n blocks, bucket by bucket, from
// the last start to the first one in each. The first start that does not fit is bumped, and so are
// those before it in its bucket: a threshold says how many. It returns the hashes of the bumped
// keys for the next layer, in the memory of the given ones.
func insertLayer(rows []ribbonRow, hashes []uint64, n int, limits []byte) (bumped []uint64) {
	bumped = hashes[:0]
	var inserted []int32
	for len(hashes) > 0 {
		bucket := startOf(hashes[0], n) / ribbonBucket
		size := 1
		for size < len(hashes) && startOf(hashes[size], n)/ribbonBucket == bucket {
			size++
		}
		last, left := -1, size // of hashes, those from left on are inserted
		for i := size - 1; i >= 0; i-- {
			x := hashes[i]
			start := startOf(x, n)
			if start != last {
				last, left, inserted = start, i+1, inserted[:0]
			}
			at := insert(rows, start*ribbonBlock, ribbonBand(x), ribbonPrint(x))
			if at < 0 {
				for _, at := range inserted {
					rows[at].band = 0
				}
				limits[bucket/2] |= byte(start%ribbonBucket+1) << (bucket % 2 * 4)
				break
			}
			inserted = append(inserted, int32(at))
			if i == 0 {
				left = 0
			}
		}
		for _, x := range hashes[:left] {
			bumped = append(bumped, ribbonMix(x, 1))
		}
		hashes = hashes[size:]
	}
	return bumped
}

// A tailRow is an equation of the tail alone.
type tailRow struct{ tail, print uint64 }

// solveTail returns the prints of the tail's slots with which the rows hold, those of slots that
// no row determines are 0; or false if one row depends on the others.
func solveTail(rows []tailRow, slots int, prints *[ribbonDense]uint64) bool {
	*prints = [ribbonDense]uint64{}
	if len(rows) > slots {
		return false
	}
	var pivots [ribbonDense]int
	done := 0
	for slot := 0; slot < slots && done < len(rows); slot++ {
		pivot := done
		for pivot < len(rows) && rows[pivot].tail>>slot&1 == 0 {
			pivot++
		}
		if pivot == len(rows) {
			continue
		}
		r := rows[pivot]
		rows[pivot] = rows[done]
		rows[done] = r
		pivots[done] = slot
		done++
		rest := rows[done:]
		for i := range rest {
			mask := -(rest[i].tail >> slot & 1) // all bits are the coefficient
			rest[i].tail ^= r.tail & mask
			rest[i].print ^= r.print & mask
		}
	}
	if done < len(rows) {
		return false
	}
	for i := done - 1; i >= 0; i-- {
		slot, print := pivots[i], rows[i].print
		prints[slot] = print
		for j := range rows[:i] {
			rows[j].print ^= print & -(rows[j].tail >> slot & 1)
		}
	}
	return true
}

// writeLayer solves the rows of a layer, whose blocks begin at block first and whose slots from
// covered on have only the whole columns, and writes the slots.
func (s *ribbonShape) writeLayer(filter []byte, rows []ribbonRow, first, covered, bit int) {
	var state [ribbonColumns + 1]uint64 // of every column, the 64 slots from the current one on
	columns := s.columns + 1
	stride := 2 * s.columns
	for b := len(rows)/ribbonBlock - 1; b >= 0; b-- {
		for i := ribbonBlock - 1; i >= 0; i-- {
			slot := b*ribbonBlock + i
			row := rows[slot]
			if row.band == 0 {
				for j := range columns {
					state[j] <<= 1
				}
				continue
			}
			// bit 0 of band is the slot itself
			band := row.band >> 1
			print := row.print
			for j := range state[:columns] {
				z := state[j]
				state[j] = z<<1 | uint64(bits.OnesCount64(z&band)&1) ^ print&1
				print >>= 1
			}
		}
		at := filter[(first+b)*stride:]
		for j := range s.columns {
			binary.LittleEndian.PutUint16(at[2*j:], uint16(state[j]))
		}
		if room := covered - b*ribbonBlock; room > 0 {
			word := state[s.columns]
			putBits(filter, bit+b*ribbonBlock, word&0xffff, min(room, ribbonBlock))
		}
	}
}

// putBits sets n bits from bit on, which are 0, to the lowest ones of word.
func putBits(filter []byte, bit int, word uint64, n int) {
	for i := range n {
		filter[(bit+i)/8] |= byte(word>>i&1) << ((bit + i) % 8)
	}
}
