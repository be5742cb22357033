package play

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/policy"
)

func ask(t *testing.T, q question) (bloom, ribbon filter) {
	all, err := reply(context.Background(), &q)
	require.NoError(t, err)
	require.Len(t, all, 2)
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
	for _, word := range append([]string{"zebra", "jackal"}, stored...) {
		f, _ := ask(t, question{Keys: append(stored, "cat"), Bits: 10, Ask: word})
		require.Equal(t, slices.Contains(stored, word), f.Stored)
		require.NotEmpty(t, f.Probes)
		require.Equal(t, 9, f.Size)
		all := true
		for _, p := range f.Probes {
			var owners []string
			for _, key := range stored {
				alone, _ := ask(t, question{Keys: []string{key}, Bits: 10})
				require.Empty(t, alone.Probes)
				if alone.Rows[p.Bit/8][p.Bit%8] == '1' {
					owners = append(owners, key)
				}
			}
			require.Equal(t, owners, p.Owners)
			all = all && owners != nil
			require.Equal(t, owners != nil, f.bytes[p.Bit/8]>>(p.Bit%8)&1 == 1)
		}
		require.Equal(t, all, f.Contains)
	}
}

// flip flips a bit of a ribbon filter, and the same one of the check byte if that covers it.
func flip(filter []byte, bit int) {
	filter[bit/8] ^= 1 << (bit % 8)
	if bit/8 >= len(filter)-8 {
		filter[len(filter)-2] ^= 1 << (bit % 8)
	}
}

// The slots that a key selects, and its fingerprint, are those by which package policy answers. If
// the sums of a stored key are its fingerprint, another value of a bit makes the key absent just if
// the key selects the bit's slot. If those of an absent key are not, other values of one such bit
// in each wrong column, and no fewer, make the filter contain the key.
func TestEquations(t *testing.T) {
	for _, n := range []int{1, 4, 8, 9, 15, 16, 23, 64} {
		for _, bits := range []int{2, 8, 13, 20} {
			t.Run(fmt.Sprintf("%d keys, %d bits", n, bits), func(t *testing.T) {
				stored := towns(n)
				_, f := ask(t, question{Keys: stored, Bits: bits})
				require.True(t, f.Table)
				require.Nil(t, f.Equation)
				require.Len(t, f.Rows, max(8, n))
				columns := max(bits, 64/len(f.Rows)) // 8 bytes are the least
				at := map[[2]int]int{}               // where the bit of a slot and column is
				for bit := range 8 * (f.Size - 4) {
					flip(f.bytes, bit)
					other := filter{bytes: f.bytes}
					require.NoError(t, other.showTable(""))
					for slot, row := range f.Rows {
						require.Len(t, row, columns)
						for column := range row {
							if row[column] != other.Rows[slot][column] {
								at[[2]int{slot, column}] = bit
							}
						}
					}
					flip(f.bytes, bit)
				}
				require.Len(t, at, len(f.Rows)*columns, "each bit of the table has a place of its own")
				for _, key := range append(f.Absent, stored...) {
					f := filter{bytes: slices.Clone(f.bytes)}
					require.NoError(t, f.showTable(key))
					e := f.Equation
					require.Equal(t, slices.Contains(stored, key), e.Sums == e.Fingerprint)
					if e.Sums == e.Fingerprint {
						for place, bit := range at {
							flip(f.bytes, bit)
							require.Equal(t, slices.Contains(e.Slots, place[0]),
								!policy.MayContain(f.bytes, []byte(key)))
							flip(f.bytes, bit)
						}
						continue
					}
					for column := range e.Sums {
						if e.Sums[column] != e.Fingerprint[column] && len(e.Slots) > 0 {
							require.False(t, policy.MayContain(f.bytes, []byte(key)))
							flip(f.bytes, at[[2]int{e.Slots[0], column}])
						}
					}
					require.Equal(t, len(e.Slots) > 0, policy.MayContain(f.bytes, []byte(key)))
				}
			})
		}
	}
}

func TestExamplesAndRates(t *testing.T) {
	for _, tuned := range []bool{false, true} {
		q := question{Keys: towns(64), Bits: 10, Tuned: tuned}
		bloom, ribbon := ask(t, q)
		require.Equal(t, tuned, bloom.Size > 81, "tuning raises the size")
		for name, f := range map[string]filter{"bloom": bloom, "ribbon": ribbon} {
			require.Len(t, f.FalsePositives, examples)
			require.Len(t, f.Absent, examples)
			for i, key := range f.FalsePositives {
				require.True(t, policy.MayContain(f.bytes, []byte(key)))
				require.False(t, policy.MayContain(f.bytes, []byte(f.Absent[i])))
				require.NotContains(t, q.Keys, key)
			}
			p, err := filters.PolicyOf(name, 10)
			require.NoError(t, err)
			expected := p.FPP(len(q.Keys)) * asked
			require.Equal(t, asked, f.Asked)
			require.InDelta(t, expected, f.False, 0.2*expected+5*math.Sqrt(expected), name)
		}
		// What is stored is not absent.
		q.Keys = append(q.Keys[1:], ribbon.FalsePositives[0])
		_, ribbon = ask(t, q)
		require.Equal(t, asked-1, ribbon.Asked)
		require.NotContains(t, ribbon.FalsePositives, q.Keys[63])
	}
	// A filter of no keys is LevelDB's.
	empty, same := ask(t, question{Bits: 8, Ask: "cat"})
	same.Kind = "bloom"
	require.Equal(t, empty, same)
	require.Equal(t, slices.Repeat([]string{"00000000"}, 8), empty.Rows)
	require.False(t, empty.Contains)
}

func TestRefusedQuestions(t *testing.T) {
	const limits = "pass at most 20 bits per key, 64 keys, and 1000 bytes in a key"
	ask(t, question{Bits: 20, Keys: towns(maxKeys)})
	// Keys without a solution, for which ribbon takes a Bloom filter, are rare: look for some.
	var unsolvable []string
	p, _ := policy.NewRibbon(8)
	for i := uint64(0); unsolvable == nil; i += 10 {
		var keys []string
		b := p.NewBuilder()
		for j := range uint64(10) {
			keys = append(keys, town(i+j))
			b.Add([]byte(keys[j]))
		}
		if filter := b.Finish(nil); filter[len(filter)-3]/4 == 63 {
			unsolvable = keys
		}
	}
	for change, message := range map[*question]string{
		{Bits: 21}:                  limits,
		{Bits: 10, Keys: towns(65)}: limits,
		{Bits: 10, Ask: strings.Repeat("x", maxKeyBytes+1)}: limits,
		{Bits: 1}:                   "1 bits per key",
		{Bits: 8, Keys: unsolvable}: "change a key",
	} {
		_, err := reply(context.Background(), change)
		require.ErrorContains(t, err, message)
	}
}
