package play

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// parseKey reads a key: hex after 0x, or text.
func parseKey(s string) ([]byte, error) {
	key := []byte(s)
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		var err error
		if key, err = hex.DecodeString(digits); err != nil {
			return nil, fmt.Errorf("the key %q: write two hexadecimal digits for each byte "+
				"after 0x", shortened(s))
		}
	}
	if len(key) > maxKeyBytes {
		return nil, fmt.Errorf("the key %q has more than %d bytes", shortened(s), maxKeyBytes)
	}
	return key, nil
}

func shortened(s string) string {
	if len(s) > 20 {
		return s[:20] + "..."
	}
	return s
}

// formatKey writes a key as parseKey reads it.
func formatKey(key []byte) string {
	s := string(key)
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if s != "" && utf8.ValidString(s) && !strings.ContainsFunc(s, hidden) &&
		!strings.HasPrefix(s, "0x") && strings.TrimSpace(s) == s {
		return s
	}
	return "0x" + hex.EncodeToString(key)
}

// appendWord appends a random word of six letters that can be read aloud.
func appendWord(dst []byte, index uint64) []byte {
	const consonants, vowels = "bcdfghjklmnpqrstvwxz", "aeiou"
	index = keys.Mix(index)
	for range 3 {
		dst = append(dst, consonants[index%20], vowels[index/20%5])
		index /= 100
	}
	return dst
}
