// Package ribbon builds and reads ribbon filters. They take about 30 % less memory than Bloom
// filters with the same rate of false positives: with 100,000 keys, 10 bits per key instead of 14.2
// for 0.11 %. For that, builds take 3 to 6 times as long as those of our Bloom filters, and lookups
// 2 to 3 times (bench/RESULTS.md, filters of 36 to 1,000,000 keys).
//
// # Terms
//
//   - Key: here, its 64-bit hash. Equal hashes are one key, repeated.
//   - Slot: a line of the table that a filter is. Column: one of the bits that each slot has.
//   - Octet: 8 adjacent slots. The bits of an octet in a column are a byte.
//   - Coefficient: a bit that a key has for each slot. A key adds up (XOR) the slots where it is 1.
//   - Span: the slots in which a key's coefficients can be 1: 8 adjacent octets, unless the end of
//     the table cuts the span off. Start: the number of the span's first octet.
//   - Fingerprint: what the slots of a key must add up to, a bit for each column.
//   - Row: the equation of a key, or a sum of such equations.
//   - Seed: a number, 0 to 63, that says how hashes become coefficients, fingerprints and starts.
//     It stands for one of 8 multipliers of hashes, and one of 8 variants, both counted from 0.
//   - Elimination: one run of the first loop below, for one multiplier. It serves all 8 variants.
//   - Shard: a part of the keys, with slots and a seed of its own. Up to 700 keys are one shard.
//   - Group: 8 columns that lie together. Single column: one of up to 7 that do not fill a group.
//     Short column: one that only the first octets have.
//   - Quad: four adjacent slots, which the solver takes at once.
//
// # Equations
//
// A Bloom filter of b bits per key errs, at best, with probability 0.62^b (which is 2^(-b*ln(2)));
// no filter of many keys can go below 2^-b. A ribbon filter (Dillinger and Walzer, 2021; FORMAT.md
// has the title) comes close to that. It is a table of bits with m slots and C columns. A key
// draws, from its hash, a fingerprint of C bits and a coefficient, 0 or 1, for every slot.
// [Contains] says that it may be in the filter if, in every column j, the bits of the slots whose
// coefficient is 1 add up to bit j of its fingerprint. Absent keys satisfy this by chance, with
// probability 2^-C. Present keys always do: for each column, the builder solves their n equations
// for its m bits. If the equations are independent, m = n slots suffice.
//
// With random coefficients for all slots, a lookup would read the whole table, and a build would
// take n^3 steps. So a key has coefficients in its span alone. Sorted by start, spans form a ribbon
// (a character is an octet, of which the shard has 18; # and V are the span):
//
//	start 0       V#######..........   four times as many keys as at other starts. Three quarters
//	start 1       .########.........   of them vary, in the first half of octet V ("Variants")
//	start 2       ..########........
//	              ...
//	start 10      ..........########   four times as many again
//
// This is the algorithm, refSolve of reference_test.go. Bit i of coeffs is the coefficient of slot
// 8*start + i; slots after the table have coefficient 0. The solver does the same by quads.
//
//	pivots := make([]row, m) // by last slot, which is bit 63 of coeffs; coeffs 0: none
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
// builder tries another seed. A row left with neither says nothing new.
//
// # Four slots at a time
//
// The solver goes by quads, from the last to the first. Of the rows whose spans reach a quad, it
// picks four that are independent there; if there are fewer, rows "slot i is 0" make them four. The
// 16 sums of picks have all possible coefficients in the quad. So adding one sum clears any other
// row there ([solver.pick]): one step where the plain solver takes up to four. Substitution uses
// the same trick the other way round: the 16 sums of a quad's values answer any four coefficients
// ([solver.substitute]).
//
// # Why both ends get more keys
//
// If all starts were equally likely, and there were as many keys as slots, a slot in the middle
// would lie in the spans of 64 keys, but the first and the last one in the spans of 8. Some slots
// at the ends would be no pivots, and some keys in the middle would find none. So starts are drawn
// from a range that is longer by 3 octets at either end, and clamped ([place]). Of systems of 700
// keys and as many slots, one elimination without variants then solves 22 %, instead of 2 %
// (TestWorth, 10,000 systems each). With random coefficients everywhere it would be 29 %, the
// product of all 1 - 2^-i. In shards of at most 8 octets, all keys start at 0, and 3 in 7 vary.
//
// # Variants
//
// So 700 keys would take 4.6 eliminations on average. Instead, keys that were clamped at the front
// vary: a variant t adds bits t to t+3 of 11 further bits of the hash to their coefficients of
// slots 0 to 3. Elimination ends at the front: it stops before these 4 slots, where about 4 rows
// remain. Rows carry the 11 bits along. As elimination only adds rows, the 11 bits of a sum are the
// sum of its keys' bits, and so say what a variant adds to the sum's coefficients. So each variant
// is a new attempt at the rows that remain, and needs no new elimination ([solver.consistent]). At
// least one of the 8 succeeds for 89 % of systems of 100 keys, and for 67 % with 700 (TestWorth).
// So filters of 100 keys take 1.13 eliminations, and of 700 keys 1.5 (TestEliminations).
//
// # No solution
//
// A builder tries multipliers 0 to 6. Each fails for 1 shard of 700 random keys in 3, so all fail
// for 1 in 2,000. Of filters of 1 to 10 keys, fewer than 1 in 10,000 have no solution
// (TestNoSolution). And the hash has no secret, so anyone can choose keys that leave none. Then the
// shard is a Bloom filter in the same bytes, marked by seed 63 (bloom.go). With 10 bits per key, its
// rate of false positives is 0.4 to 1.5 % (TestBloomShards).
//
// # Shards
//
// The more slots there are, the likelier some stretch has too few keys, and a span is too short to
// bridge it: with 700 keys 67 % of eliminations succeed, with 1000 keys 48 % (TestWorth). So more
// than 700 keys are divided, by their hashes, into shards of about 500: n keys into n/500 shards,
// rounded, at least 2. An index says where the shards begin, with 4 bytes each, and shards have
// whole octets, on average 3.5 slots too many: 67 bits, 1.3 % of the bits of 500 keys at 10 bits
// each. Smaller shards would take more bits, larger ones more eliminations. The number of keys in a
// shard has a standard deviation of 22. So a shard of more than 1000 has chosen keys, or one key
// many times, and the solver, which has room for 1000, does not try.
//
// So 10 bits per key are 9.87 columns; a single shard has 10, and a trailer of 4 bytes besides.
// With 9, there would be nearly twice as many false positives. So the first octets, counted through
// all shards, have one column more, and a key has it if its whole span does: 0.111 % instead of
// 0.195 % with 100,000 keys ([FPP]). The first shards have 10 columns then, the last ones 9, and at
// most one between them has a short column. The builder solves that column for all slots, but
// stores it for the first octets only: no key needs the rest.
//
// # Layout
//
//	one shard:    | shard | slots, seed (2) | check | 's' |
//	many shards:  | shard 0 | ... | index (4 each) | shards (4) | columns (2) | check | 's' |
//
// Numbers in parentheses are bytes. The length of one shard says how many columns it has. An entry
// of the index is 64 times the number of a shard's first octet, plus the shard's seed; one entry
// more has the number of all octets. The check byte makes the last 8 bytes, itself included, add up
// (XOR) to a hash of the filter's length. 's' is [Encoding].
//
// A lookup checks 8 columns at once: it takes the 8 bytes of each octet, clears the slots whose
// coefficients are 0, adds up (XOR) the octets, and compares the parity of byte j with bit j of the
// fingerprint. So columns lie in groups of 8; single columns follow, in which a span is 8 bytes,
// and the short one is last. A shard of 20 slots and 10 columns, by bytes:
//
//	0                 8                 16            20         22         24            25
//	| octet 0, slots  | octet 1, slots  | slots 16-19 | column 8 | column 9 | slots 16-19 |
//	| 0-7 of column   | 8-15 of column  | of columns  | of slots | of slots | of columns  |
//	| 0|1|2|3|4|5|6|7 | 0|1|2|3|4|5|6|7 | 0 to 7      | 0-7|8-15 | 0-7|8-15 | 8 and 9     |
//
// Slots after the last whole octet have a byte each in a group, with a bit for each column, and the
// bits of one single column after another at the end.
//
// # No false negative
//
// A solution satisfies the equation of every present key in all columns, and [Contains] checks the
// same equation in the columns that are stored for the key's whole span. Builder and lookup take it
// from the same functions (equation.go). TestEverySize looks up every key again, TestReference
// compares with a second writer. A Bloom filter's lookups find all bits that its keys set.
//
// # Where to read on
//
// format.go has the numbers, equation.go what a key draws. [Builder.Build] sorts hashes by shard;
// for every shard, the solver (solve.go) loads the equations, eliminates with one multiplier of
// hashes after another until a variant succeeds, and substitutes; then store writes the columns.
// [Contains] finds the shard and adds up slots. info.go has the false-positive probability,
// FORMAT.md every bit.
package ribbon
