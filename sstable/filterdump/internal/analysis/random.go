package analysis

import "math/rand/v2"

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
