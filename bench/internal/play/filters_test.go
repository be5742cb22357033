package play

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

func ask(t *testing.T, q question) (bloom, ribbon filter) {
	all, err := reply(context.Background(), &q)
	require.NoError(t, err)
	require.Equal(t, []string{"bloom", "ribbon"}, []string{all[0].Kind, all[1].Kind})
	return all[0], all[1]
}

func towns(n int) (all []string) {
	for i := range uint64(n) {
		all = append(all, town(1<<32+i)) // not those that are looked up
	}
	return all
}

// The keys that set a bit are those that set it on their own. Filters of up to 6 keys have 64 bits.
func TestOwners(t *testing.T) {
	stored := []string{"ant", "bee", "cat", "dog", "eel", "fox"}
	p, _ := policy.NewBloom(10)
	for _, word := range append([]string{"zebra", "jackal"}, stored...) {
		f, _ := ask(t, question{Keys: append(stored, "cat"), Bits: 10, Ask: word})
		require.Equal(t, slices.Contains(stored, word), f.Stored)
		all := true
		for _, probe := range f.Probes {
			i, bit := probe.Bit/8, byte(1)<<(probe.Bit%8)
			owners := slices.DeleteFunc(slices.Clone(stored), func(key string) bool {
				return p.AppendFilter(nil, [][]byte{[]byte(key)})[i]&bit == 0
			})
			require.Equal(t, owners, append([]string{}, probe.Owners...))
			require.Equal(t, len(owners) > 0, f.bytes[i]&bit != 0)
			all = all && len(owners) > 0
		}
		require.Equal(t, all, f.Contains)
	}
}

// flipped returns a ribbon filter with another value of a bit, and a check byte that suits.
func flipped(filter []byte, bit int) []byte {
	filter = slices.Clone(filter)
	filter[bit/8] ^= 1 << (bit % 8)
	if bit/8 >= len(filter)-8 {
		filter[len(filter)-2] ^= 1 << (bit % 8)
	}
	return filter
}

// The slots that a key selects, and its fingerprint, are those by which package policy answers. If
// the sums of a stored key are its fingerprint, another value of a bit makes the key absent just if
// the key selects the bit's slot. If those of an absent key are not, other values of one such bit
// in each wrong column, and no fewer, make the filter contain the key.
func TestEquations(t *testing.T) {
	for i, n := range []int{1, 4, 8, 9, 15, 16, 23, 40, 64, 64} {
		bits := []int{2, 8, 13, 20}[i%4]
		stored := towns(n)
		_, f := ask(t, question{Keys: stored, Bits: bits})
		require.Nil(t, f.Equation)
		require.Len(t, f.Rows, max(8, n))
		columns := max(bits, 64/len(f.Rows)) // 8 bytes are the least
		at := map[[2]int]int{}               // where the bit of a slot and column is
		for bit := range 8 * (f.Size - 4) {
			other := filter{bytes: flipped(f.bytes, bit)}
			require.NoError(t, other.showTable(""))
			for slot, row := range f.Rows {
				require.Len(t, row, columns)
				for column := range row {
					if row[column] != other.Rows[slot][column] {
						at[[2]int{slot, column}] = bit
					}
				}
			}
		}
		require.Len(t, at, len(f.Rows)*columns, "each bit of the table has a place of its own")
		for _, key := range append(f.Absent, stored...) {
			mayContain := func(bytes []byte) bool { return policy.MayContain(bytes, []byte(key)) }
			e := equationOf(f.Rows, f.Seed, key)
			require.Equal(t, slices.Contains(stored, key), e.Sums == e.Fingerprint)
			changed := f.bytes
			for place, bit := range at {
				if e.Sums == e.Fingerprint {
					selected := slices.Contains(e.Slots, place[0])
					require.Equal(t, selected, !mayContain(flipped(f.bytes, bit)))
				} else if column := place[1]; e.Sums[column] != e.Fingerprint[column] &&
					len(e.Slots) > 0 && place[0] == e.Slots[0] {
					require.False(t, mayContain(changed))
					changed = flipped(changed, bit)
				}
			}
			require.Equal(t, len(e.Slots) > 0 || e.Sums == e.Fingerprint, mayContain(changed))
		}
	}
}

func TestExamplesAndRates(t *testing.T) {
	q := question{Keys: towns(64), Bits: 10}
	bloom, ribbon := ask(t, q)
	for name, f := range map[string]filter{"bloom": bloom, "ribbon": ribbon} {
		require.Len(t, f.FalsePositives, examples)
		require.Len(t, f.Absent, examples)
		for i, key := range f.FalsePositives {
			require.True(t, policy.MayContain(f.bytes, []byte(key)))
			require.False(t, policy.MayContain(f.bytes, []byte(f.Absent[i])))
		}
		expected := testkit.Must(filters.PolicyOf(name, 10)).FPP(len(q.Keys)) * asked
		require.Equal(t, asked, f.Asked)
		require.InDelta(t, expected, f.False, 0.2*expected+5*math.Sqrt(expected), name)
	}
	q.Tuned = true
	tuned, same := ask(t, q)
	require.Greater(t, tuned.Size, bloom.Size)
	require.Equal(t, ribbon, same)
	// What is stored is not absent.
	q.Keys[0] = ribbon.FalsePositives[0]
	_, ribbon = ask(t, q)
	require.Equal(t, asked-1, ribbon.Asked)
	require.NotContains(t, ribbon.FalsePositives, q.Keys[0])
	// A filter of no keys is LevelDB's.
	empty, same := ask(t, question{Bits: 8, Ask: "cat"})
	same.Kind = "bloom"
	require.Equal(t, empty, same)
	require.Equal(t, slices.Repeat([]string{"00000000"}, 8), empty.Rows)
	unsolved := filter{bytes: binary.LittleEndian.AppendUint32(make([]byte, 8), 8+1024*63)}
	require.ErrorContains(t, unsolved.showTable(""), "change a key")
}
