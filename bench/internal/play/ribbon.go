package play

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/zeebo/xxh3"
)

// An equation is that of a key in a ribbon filter: in each column, the bits of the slots that the
// key selects add up (XOR) to the fingerprint's bit, if the filter may contain the key.
type equation struct {
	Slots       []int  `json:"slots"`
	Sums        string `json:"sums"` // a bit for each column, as in the fingerprint
	Fingerprint string `json:"fingerprint"`
}

// showTable fills in the bits of each slot of a ribbon filter, which is one shard without a short
// column, and the equation of key unless it is empty. policy/FORMAT.md has the layout.
func (f *filter) showTable(key string) error {
	end := len(f.bytes) - 4
	shard, word := f.bytes[:end], int(binary.LittleEndian.Uint16(f.bytes[end:]))
	m, seed := word%1024, word/1024
	if seed == 63 {
		return errors.New("ribbon finds no solution for these keys and takes a Bloom filter: " +
			"change a key")
	}
	octets, remaining, columns := m/8, m%8, 8*end/m
	grouped := columns / 8 * 8
	for slot := range m {
		row := make([]byte, columns)
		for column := range columns {
			group, single, bit := 8*m*(column/8), column-grouped, 0
			switch inOctet := slot < 8*octets; {
			case column < grouped && inOctet:
				bit = group + 64*(slot/8) + 8*(column%8) + slot%8
			case column < grouped:
				bit = group + 64*octets + 8*(slot%8) + column%8
			case inOctet:
				bit = m*grouped + 8*single*octets + slot
			default:
				bit = 8*end - (single+1)*remaining + slot%8
			}
			row[column] = '0' + shard[bit/8]>>(bit%8)&1
		}
		f.Rows = append(f.Rows, string(row))
	}
	f.Table, f.Seed = true, seed
	if key != "" {
		f.Equation = equationOf(f.Rows, seed, key)
	}
	return nil
}

// equationOf returns the equation of a key in at most 64 slots, with FORMAT.md's names: the key's
// span is all slots.
func equationOf(rows []string, s int, key string) *equation {
	m := 0x9e3779b97f4a7c15*uint64(8*(s/8)+7) | 0xff<<56
	high, v := bits.Mul64(xxh3.HashString(key), m)
	f := high ^ v
	coefficients := v >> (64 - len(rows))
	if f>>52*7/4096 < 3 { // d < 0
		coefficients ^= f >> (41 + s%8) & 0xf
	}
	e := &equation{Slots: []int{}}
	for slot := range rows {
		if coefficients>>slot&1 == 1 {
			e.Slots = append(e.Slots, slot)
		}
	}
	for column := range rows[0] {
		sum := byte(0)
		for _, slot := range e.Slots {
			sum ^= rows[slot][column] & 1
		}
		e.Sums += string('0' + rune(sum))
		e.Fingerprint += string('0' + rune(f>>column&1))
	}
	return e
}
