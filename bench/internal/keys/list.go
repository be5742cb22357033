package keys

// A List is a user's own keys, sorted, none twice.
type List [][]byte

// Set returns n present keys, which must fit, and at most that many absent ones, chosen and ordered
// by seed. It takes the first keys of the list. A random third of them is absent: so absent keys are
// as real as present ones, and lie between them. db_bench's fillrandom leaves about the same part.
func (l List) Set(n, absent int, seed int64) *Set {
	rng := newRand(seed)
	set := &Set{Guard: l[len(l)-1], seed: rng.Uint64()}
	run := l[:withHeldOut(n)]
	for i, key := range run {
		if rng.IntN(len(run)-i) < n-len(set.Present) { // each choice of n is equally likely
			set.Present = append(set.Present, key)
		} else {
			set.Between = append(set.Between, key)
		}
	}
	shuffle(rng, set.Present)
	shuffle(rng, set.Between)
	set.Between = set.Between[:min(absent, len(set.Between))]
	return set
}

// withHeldOut returns how many keys a run of n present keys has.
func withHeldOut(n int) int { return n + (n+1)/2 }

// Most returns the largest number of present keys with which absent ones, between them, and a guard
// fit, or 0.
func (l List) Most() int { return max(0, (len(l)-1)*2/3) }
