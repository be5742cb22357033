// Package ribbon builds and reads ribbon filters, which do the work of Bloom filters in 30 % less
// memory.
//
// # Terms
//
//   - Slot: a row of the table that a filter is. Column: a bit that each slot has, one beside the
//     other.
//   - Octet: 8 slots in a row. The bits of an octet in a column are a byte.
//   - Coefficient: a bit that a key has for each slot; the slots that it adds up (XOR) have 1.
//   - Span: the 64 slots in a row, 8 octets, in which a key's coefficients can be 1. Start: the
//     number of the span's first octet.
//   - Fingerprint: what the slots of a key must add up to, a bit for each column.
//   - Seed: a number, 0 to 63, that says how keys get coefficients, fingerprint and start from
//     their hashes. It stands for a multiplier, 0 to 7, and a variant, 0 to 7.
//   - Shard: a part of the keys of a large filter, with slots and a seed of its own.
//   - Group: 8 columns that lie together. Single column: one of up to 7 that do not fill a group.
//     Short column: one that only the first octets have.
//   - Quad: four slots in a row, which the solver takes at once.
//
// # Equations
//
// A Bloom filter of b bits per key errs with probability 0.62^b; no filter can go below 2^-b. A
// ribbon filter (Dillinger and Walzer, 2021) comes close to that. It is a table of bits with m
// slots and C columns. A key draws, from its hash, a fingerprint of C bits and a coefficient, 0 or
// 1, for every slot. It may be in the filter if, in every column j, the bits of the slots whose
// coefficient is 1 add up to bit j of its fingerprint. Absent keys satisfy this by chance, with
// probability 2^-C. Present keys always do: for each column, the builder solves their n equations
// for its m bits. If the equations are independent, m = n slots suffice.
//
// With random coefficients for all slots, a lookup would read the whole table, and a build would
// take n^3 steps. So a key has coefficients in its span alone. Sorted by start, spans form a ribbon
// (a # is an octet; the shard has 18):
//
//	start 0       V#######..........   four times as many keys as at other starts; three
//	start 1       .########.........   quarters of them vary, in half of the octet V: see below
//	start 2       ..########........
//	              ...
//	start 10      ..........########   four times as many again
//
// This is the algorithm; the solver takes a quad at a time:
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
// The first loop eliminates: each row gets a slot of its own, its pivot, and is 0 in all later
// slots. The second one substitutes back: a pivot gets the value that its row requires, any other
// slot gets 0. A row left with a fingerprint but no coefficients is a contradiction. Then the
// builder tries another seed.
//
// # Four slots at a time
//
// The solver goes by quads, from the last to the first. Of the rows whose spans reach a quad, it
// picks four that are independent there. Any other row's four coefficients in the quad are those of
// one of the 16 sums of picks, and adding that sum clears them ([solver.pick]): one step where the
// plain solver takes four. Substitution uses the same trick the other way round: the 16 sums of a
// quad's values answer any four coefficients ([solver.substitute]).
//
// # Why both ends get more keys
//
// A slot in the middle lies in the spans of 64 keys, the first and the last one would lie in those
// of 8: too few, so some slots there are no pivots, and keys elsewhere find none. So starts are
// drawn from a range that is longer by 3 octets at either end, and clamped ([place]). Then of
// systems of 700 keys and as many slots one elimination solves 22 % (TestWorth). With random
// coefficients everywhere it would be 29 %, the product of all 1 - 2^-i.
//
// # Variants
//
// So a filter of 700 keys would take 4 or 5 eliminations. Instead, keys that were clamped at the
// front vary: a variant t adds bits t to t+3 of 11 further bits of the hash to their coefficients
// of slots 0 to 3. Elimination goes from the last slot to the first. So it stops before these 4
// slots, and carries the 11 bits along as if they belonged to the fingerprint. In the end, about 4
// rows remain, of 4 slots each. Each variant is a new attempt at these alone ([solver.consistent]).
// One of the 8 succeeds for 89 % of systems of 100 keys, and for 66 % of those of 700 (TestWorth),
// so that a filter takes 1.13 eliminations, or 1.5 (TestEliminations).
//
// # No solution
//
// A writer tries seven multipliers. All seven fail for 1 filter of 8 random keys in 50,000
// (TestNoSolution), hardly ever with 20 to 400, and, as each fails 1 time in 3, for 1 filter of 700
// in 2,000. And the hash has no secret, so anyone can choose keys that leave no solution
// (TestAttack). Then a shard is a Bloom filter in the same bytes (bloom.go).
//
// # Shards
//
// The more slots there are, the likelier some stretch has too few keys, and spans are too short to
// make up for it: with 700 keys 66 % of eliminations succeed, with 1000 keys 49 % (TestWorth). So
// more than 700 keys are divided, by their hashes, into shards of about 500, each with its own
// seed. An index says where the shards begin, with 4 bytes each, and shards have whole octets, on
// average 3.5 slots too many: 67 bits, 1.3 % of the bits of 500 keys at 10 bits each. Smaller
// shards would take more bits, larger ones more eliminations. By chance a shard has 500 keys give
// or take 22. With more than 1000 it has chosen keys, or one key many times, and the solver, which
// has room for 1000, does not try.
//
// So 10 bits per key are 9.87 columns. With 9, there would be nearly twice as many false positives.
// So the first octets of the filter have one column more, and a key has it if its whole span does:
// 0.112 % instead of 0.195 with 100,000 keys ([FPP]). The builder solves that column for all slots,
// but stores it for the first octets only: no key needs the rest.
//
// # Layout
//
//	one shard:    | shard | slots, seed (2) | check | 's' |
//	many shards:  | shard 0 | ... | index (4 each) | shards (4) | columns (2) | check | 's' |
//
// The index ends with the number of all octets. A lookup reads 8 columns at once, 8 bytes for each
// octet: so columns come in groups of 8, the others singly, the short one last. A shard of 20 slots
// and 10 columns, by bytes:
//
//	0                 8                 16      20         22         24       25
//	| slots 0-7 of    | slots 8-15 of   | slots | column 8 | column 9 | slots  |
//	| column 0|1|...|7| column 0|1|...|7| 16-19 | 0-7|8-15 | 0-7|8-15 | 16-19  |
//
// Slots after the last whole octet have a byte each in a group and, at the end, a bit per column.
//
// # Where to read on
//
// format.go has the numbers, equation.go what a key draws. [Builder.Build] sorts hashes by shard;
// for every shard, the solver (solve.go) loads the equations, eliminates with one multiplier of
// hashes after another until a variant succeeds, and substitutes; then store writes the columns.
// [Contains] finds the shard and adds up slots. A false negative could only come from these two
// taking different slots, bits or seeds for the same key. info.go has the false-positive
// probability, FORMAT.md every bit.
package ribbon
