// Package ribbon builds and reads ribbon filters, which do the work of Bloom filters in 30 % less
// memory.
//
// # Equations
//
// A Bloom filter of b bits per key errs with probability 0.62^b; no filter can go below 2^-b. A
// ribbon filter (Dillinger and Walzer, 2021) comes close to that. It is a table of bits with m
// slots and C columns. A key draws, from its hash, a fingerprint of C bits and a coefficient, 0 or
// 1, for every slot. It may be in the filter if, in every column j, the bits of the slots whose
// coefficient is 1 add up (XOR) to bit j of its fingerprint. Absent keys fulfill this by chance,
// with probability 2^-C. Present keys always do: for each column, the builder solves their n
// equations for its m bits. If the equations are independent, m = n slots suffice.
//
// With random coefficients for all slots, a lookup would read the whole table, and a build would
// take n^3 steps. So only 64 slots in a row, 8 blocks of 8, can have the coefficient 1: the key's
// window. Sorted by start (their first block), windows form a ribbon (a # is a block):
//
//	start 0       ########..........   four times as many keys as at other starts;
//	start 0       T#######..........   T: three quarters of them turn, see below
//	start 1       .########.........
//	              ...
//	start 10      ..........########   four times as many again
//
// This is the algorithm; the solver takes four slots at a time:
//
//	pivots := make([]row, m) // by slot, bit 63 of coeffs; coeffs == 0: no pivot
//	for _, hash := range hashes {
//		start, coeffs, fp := refEquation(hash, seed, m)
//		slot := 8*start + 63
//		for coeffs != 0 {
//			zeros := bits.LeadingZeros64(coeffs)
//			slot, coeffs = slot-zeros, coeffs<<zeros
//			if pivots[slot].coeffs == 0 {
//				pivots[slot] = row{coeffs, fp}
//				break
//			}
//			coeffs ^= pivots[slot].coeffs
//			fp ^= pivots[slot].fp
//		}
//		if coeffs == 0 && fp != 0 {
//			return nil, false
//		}
//	}
//	values = make([]uint64, m)
//	for slot, p := range pivots {
//		values[slot] = p.fp
//		for i := 1; i < 64 && i <= slot; i++ {
//			values[slot] ^= values[slot-i] * (p.coeffs >> (63 - i) & 1)
//		}
//	}
//	return values, true
//
// The first loop eliminates: rows get a slot of their own each, the pivot, and are 0 in all later
// slots. The second one substitutes back: a pivot gets the value that its row requires, any other
// slot gets 0. A row without coefficients, but with a fingerprint, is a sum of equations that
// contradict each other. Then the builder tries another seed.
//
// # Why both ends get more keys
//
// A slot in the middle lies in the windows of 64 keys, the first and the last one would lie in
// those of 8: too few, so some slots there are no pivots, and keys elsewhere find none. So starts
// are drawn from a range that is longer by 3 blocks at either end, and clamped ([place]). Then
// systems of up to 700 keys have a solution nearly as often as with coefficients everywhere: 29 %
// with as many slots as keys, 58 % with one slot more, 77 % with two.
//
// # Turning
//
// 3.5 eliminations per filter would be too slow. Instead, keys that were clamped at the front
// turn: a seed is one of 7 multipliers of the hash and a turn, 0 to 7. Turn t adds bits t to t+3
// of 11 further bits of the hash to the coefficients of slots 0 to 3. Elimination goes from the
// last slot to the first. So it stops before these 4 slots, and carries the 11 bits along as if
// they belonged to the fingerprint. In the end, about 4 rows are left, of 4 slots each. Each turn
// is a new attempt at these alone; 7 times in 8, one succeeds. A filter takes 1.13 eliminations
// with 100 keys and 1.5 with 700 (TestEliminations).
//
// # No solution
//
// Seven multipliers hardly ever fail for random keys. But the hash has no secret, so anyone can
// choose keys that leave no solution. Then a shard is a Bloom filter in the same bytes (bloom.go).
//
// # Shards
//
// The more slots there are, the likelier some stretch has too few keys, and windows are too short
// to make up for it. So more than 700 keys are divided, by their hashes, into shards of about 500,
// each with its own seed. An index says where the shards begin. They have whole blocks, on average
// 3.5 slots too many. This and the index cost 1.3 % of the bits, so 10 bits per key are 9.87
// columns. With 9, there would be nearly twice as many false positives. So the first blocks of the
// filter have one column more, and a key has it if its whole window does: 0.111 % instead of
// 0.195. The builder solves that column for all slots, but stores it for the first blocks only: no
// key needs the rest.
//
// # Layout
//
//	one shard:    | shard | slots, seed (2) | check | 'r' |
//	many shards:  | shard 0 | ... | index (4 each) | shards (4) | columns (2) | check | 'r' |
//
// The index ends with the number of all blocks. A lookup reads 8 columns at once, 8 bytes for each
// block: so columns come in groups of 8, the others singly, the short one last. A shard of 20 slots
// and 10 columns, by bytes:
//
//	0                 8                 16      20         22         24       25
//	| slots 0-7 of    | slots 8-15 of   | slots | column 8 | column 9 | slots  |
//	| column 0|1|...|7| column 0|1|...|7| 16-19 | 0-7|8-15 | 0-7|8-15 | 16-19  |
//
// Slots after the last whole block have a byte each in a group and, at the end, a bit per column.
//
// # Where to read on
//
// format.go has the numbers, equation.go what a key draws. [Builder.Build] sorts hashes by shard;
// for every shard, the solver (solve.go) loads the equations, eliminates with one multiplier of
// hashes after another until a turn succeeds, and substitutes; then store writes the columns.
// [Contains] finds the shard and adds up slots. A false negative could only come from these two
// taking different slots, bits or seeds for the same key. info.go has the false-positive
// probability, FORMAT.md every bit.
package ribbon
