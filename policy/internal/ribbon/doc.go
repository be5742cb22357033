// Package ribbon builds and reads ribbon filters. A ribbon filter takes a third less memory than
// LevelDB's Bloom filter with the same rate of false positives: for a rate of 0.112 % with 100,000
// keys, 10 bits per key instead of 15.1 (policy.BitsFor). In return, building one takes 3 to 6
// times as long, and a lookup 2 to 3 times (bench/RESULTS.md, filters of 36 to 1,000,000 keys).
//
// # A filter solves equations
//
//   - Slot: a line of the filter, which is a table of bits. Column: one of the C bits of each slot.
//   - Key: here, its 64-bit hash. Keys with equal hashes are one key, added repeatedly.
//   - Coefficients: a bit for each slot, drawn from a key's hash. They select the key's slots.
//   - Fingerprint: C bits, drawn from the same hash.
//
// Addition is XOR, bit by bit. A key may be in the filter if the slots that its coefficients select
// add up to its fingerprint. With 4 slots and 3 columns:
//
//	             slot 0   slot 1   slot 2   slot 3
//	coefficient     1        0        1        1
//	value          101      011      110      010     101 + 110 + 010 = 001, the fingerprint
//
// An absent key satisfies this equation by chance, with probability 2^-C. A present key always
// does, because the builder solves for the table: each column is a system of linear equations, one
// per key, whose unknowns are the column's bits. If the equations are independent, n slots suffice
// for n keys. Then b bits per key give b columns, and the rate of false positives is 2^-b. No
// filter of many keys can have a lower rate; a Bloom filter's is 2^(-b*ln 2) at best.
//
// # Gaussian elimination in a ribbon
//
// Gaussian elimination solves such a system. With random coefficients for all slots, it would take
// n^3 steps, and a lookup would read half of the table. In a ribbon filter (Dillinger and Walzer,
// 2021; FORMAT.md gives the title), a key's coefficients are 0 outside of its span, 64 adjacent
// slots. A span consists of 8 octets of 8 slots; the number of its first octet is the key's start.
// Sorted by start, the spans form a ribbon. In a table of 18 octets, each drawn as one character:
//
//	start 0     ########..........
//	start 1     .########.........
//	            ...
//	start 10    ..........########
//
// The plain solver below is refSolve of reference_test.go. It gets a key's equation from
// refEquation: bit i of coeffs is the coefficient of slot 8*start + i, and 0 past the table's end;
// fp is the fingerprint, for all columns at once, and above it the bits of section Variants. A row
// is an equation, or a sum of equations.
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
// The first loop eliminates. A row's pivot is its last slot with the coefficient 1. If an earlier
// row has the same pivot, adding that row moves the pivot towards the front, until no other row
// shares it. All its coefficients stay within the 64 slots up to the pivot. A row left without
// coefficients, but with a fingerprint other than 0, contradicts the others; the builder then draws
// all equations anew, with another seed for the hashes. A row left with neither is redundant. The
// second loop substitutes back: a pivot gets the value that its row requires, others get 0.
//
// # More keys at both ends
//
// If all starts are equally likely, one elimination solves only 2 % of systems of 700 keys and 700
// slots. A slot in the middle lies in the spans of about 64 keys, but a slot of the first or the
// last octet in those of about 8. Some slots at the ends then get no row, and as many rows in the
// middle get no slot. Therefore place draws a number d from a range that exceeds that of the starts
// by 3 at either end, and clamps it. In a table of 18 octets:
//
//	d        -3  -2  -1   0   1   2  ...   9  10  11  12  13
//	start     0   0   0   0   1   2  ...   9  10  10  10  10
//
// Both ends get four times the keys of other starts, and one elimination solves 22 % (TestWorth).
//
// # Four slots at a time
//
// Our solver uses the method of the Four Russians: it eliminates four adjacent slots, a quad, in
// one step, from the last quad to the first. Among the rows that reach the quad, it picks four
// whose coefficients in the quad are independent. If there are fewer, rows that say "slot i is 0"
// make them four. The 16 sums of the picks have all possible coefficients in the quad, and adding
// one of them clears the quad in any other row (solver.pick, solver.eliminate). In substitution, a
// table of the 16 sums of a quad's values answers any four coefficients (solver.substitute).
//
// # Variants
//
// When elimination gets to quad 0, about 4 rows remain for its 4 slots, and usually these are
// dependent. It pays to change them alone, and to keep the rest of the work. Therefore keys with a
// negative d vary: their coefficients in quad 0 depend on the variant, a number t from 0 to 7.
// Variant t adds to them bits t to t+3 of 11 further bits of the hash. These windows overlap
// because 8 separate ones would take 32 bits. The product of a hash and a multiplier gives 64
// coefficients and 64 further bits; of these, the fingerprint takes 41 and d 12, which leaves 11.
// With up to 64 slots, 0 is the only start: d is one of -3 to 3, and 3 keys in 7 vary.
//
// Rows carry the 11 bits along. As elimination only adds rows, a sum's 11 bits are the sum of its
// keys' bits, and they say what each variant adds to its coefficients. When only quad 0 is left,
// solver.consistent tests one variant after another. For 67 % of systems of 700 keys, at least one
// of the 8 succeeds (TestWorth), and a solution takes 1.5 eliminations on average
// (TestEliminations). A seed stands for a multiplier of hashes and a variant. One elimination
// serves 8 seeds.
//
// # Shards
//
// The longer the ribbon, the likelier some stretch of it has too few keys, and the fewer systems
// have a solution. Up to 700 keys are one shard. More are divided, by their hashes, into n/500
// shards, rounded, but at least 2, with a table and a seed each. An index with 4 bytes per shard,
// and 3.5 unused slots on average because shards consist of whole octets, take 1.3 % of a filter
// with 10 bits per key. Smaller shards would take more, larger ones more eliminations.
//
// A builder tries multipliers 0 to 6. All fail for about 1 in 2,000 shards of 700 random keys, and
// for fewer than 1 in 10,000 filters of 1 to 10 keys (TestNoSolution). As the hash has no secret,
// anyone can choose keys for which all fail. Such a shard, and one of more than 1000 keys, is a
// Bloom filter in the same bytes, marked by seed 63 (bloom.go). With 10 bits per key, its rate of
// false positives is 0.4 to 1.5 % (TestBloomShards).
//
// # The short column
//
// In a large filter, 10 bits per key give 9.87 columns. Besides 9 whole ones, the first octets,
// counted through all shards, therefore get a 10th column. Keys whose whole span lies in these
// octets use it: the rate with 100,000 keys is 0.111 %, not 0.195 % ([FPP]). The first shards then
// have 10 columns, the last ones 9, and at most one in between has a short column, in its first
// octets only. The builder solves it for all slots, but stores only the part that lookups read.
//
// # Layout
//
//	one shard:    | shard | slots, seed (2) | check | 's' |
//	many shards:  | shard 0 | ... | index (4 each) | shards (4) | columns (2) | check | 's' |
//
// Numbers in parentheses are bytes. If there is one shard, its length determines the columns. An
// entry of the index gives a shard's first octet and seed; one more gives the number of all octets.
// The check byte makes the last 8 bytes add up to a hash of the filter's length. 's' is [Encoding].
//
// A lookup loads 8 columns of an octet as one uint64: byte j is column j, and its bit i is slot i.
// It clears the slots whose coefficients are 0, adds up the 8 octets of the span, and compares the
// parity of byte j with bit j of the fingerprint. Columns are therefore stored in groups of 8. Up
// to 7 single columns follow, then the short one. The bytes of 20 slots in 10 columns:
//
//	0                 8                 16            20         22         24            25
//	| octet 0, slots  | octet 1, slots  | slots 16-19 | column 8 | column 9 | slots 16-19 |
//	| 0-7 of column   | 8-15 of column  | of columns  | of slots | of slots | of columns  |
//	| 0|1|2|3|4|5|6|7 | 0|1|2|3|4|5|6|7 | 0 to 7      | 0-7|8-15 | 0-7|8-15 | 8 and 9     |
//
// A slot after the last whole octet is a byte in each group, with a bit per column. The bits of
// such slots in the single columns are at the end, one column after another.
//
// # The code
//
// [Builder.Finish] sorts hashes by shard. For each shard, and one multiplier after another, the
// solver (solve.go) loads the equations and eliminates, until a variant succeeds; then it
// substitutes. The solution satisfies the equation of every key, and [Contains] checks the same one
// (equation.go) in the stored columns, so no key is lost. FORMAT.md specifies every bit.
package ribbon
