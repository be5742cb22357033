package analysis

import "math/rand/v2"

// beyondKeys calls f with n absent keys that look like the table's and are below its first key or
// above its last one: next to it, on each side as far as the range itself is wide, or n keys if
// that is more. Each length has its share by its number in the sample. Where a shape leaves room
// for fewer than n, as that of 0 to 99999 written with zeros in front, one more of its positions
// varies, and then another, up to eight; there are fewer than n keys if that leaves no room. They
// are in random order for each length. The key's memory is reused.
func beyondKeys(
	rng *rand.Rand, first, last []byte, s shapes, n int, f func(key []byte) error,
) error {
	total, before := 0, 0
	for _, length := range s.lengths {
		total += s.number[length]
	}
	for _, length := range s.lengths {
		share := portion(n, before, s.number[length], total)
		before += s.number[length]
		if err := s.of[length].beyond(rng, first, last, share, f); err != nil {
			return err
		}
	}
	return nil
}

// maxWidened positions of digits make room for more keys than are ever asked for; more tries would
// be in vain.
const maxWidened = 8

func (s shape) beyond(rng *rand.Rand, first, last []byte, n int, f func(key []byte) error) error {
	for turn := 0; ; turn++ {
		to, total := s.number(0)
		low, _ := s.rank(first, 0, to)
		high, own := s.rank(last, 0, to)
		width := max(high-low, uint64(n))
		if own {
			high++
		}
		below, above := min(width, low), min(width, total-high)
		if below+above < uint64(n) && turn < maxWidened {
			if wider, ok := s.widened(); ok {
				s = wider
				continue
			}
		}
		key := make([]byte, len(s))
		for _, i := range pick(rng, n, below+above) {
			number := high + i - below
			if i < below {
				number = low - below + i
			}
			s.put(key, number, 0, to)
			s.scatter(rng, key, to)
			if err := f(key); err != nil {
				return err
			}
		}
		return nil
	}
}

// randomKeys calls f with n keys of random bytes, of the lengths of the sample. Those shorter than
// 8 bytes get 8, so that none is in the table by chance. The key's memory is reused.
func randomKeys(rng *rand.Rand, sample [][]byte, n int, f func(key []byte) error) error {
	var key []byte
	for range n {
		length := 8
		if len(sample) > 0 { // else all keys are long
			length = max(length, len(sample[rng.IntN(len(sample))]))
		}
		key = key[:0]
		for len(key) < length {
			key = append(key, byte(rng.Uint32()))
		}
		if err := f(key); err != nil {
			return err
		}
	}
	return nil
}
