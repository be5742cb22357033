package play

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parseKey reads a key: hex after 0x, or text.
func parseKey(s string) ([]byte, error) {
	key := []byte(s)
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		var err error
		if key, err = hex.DecodeString(digits); err != nil {
			return nil, fmt.Errorf("the key %.20q: write two hexadecimal digits for each byte "+
				"after 0x", s)
		}
	}
	if len(key) > maxKeyBytes {
		return nil, fmt.Errorf("a key of %d bytes: pass at most %d", len(key), maxKeyBytes)
	}
	return key, nil
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
