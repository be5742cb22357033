package keys

import "fmt"

// CountN writes a number of keys, with k for thousands and M for millions: 36 keys, 10k keys.
func CountN(n int) string {
	switch {
	case n%1_000_000 == 0:
		return fmt.Sprintf("%dM keys", n/1_000_000)
	case n%1000 == 0:
		return fmt.Sprintf("%dk keys", n/1000)
	}
	return fmt.Sprintf("%d keys", n)
}
