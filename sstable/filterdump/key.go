package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
)

// parseKey reads the argument of -key: hex after 0x, or text.
func parseKey(arg string) ([]byte, error) {
	digits, ok := strings.CutPrefix(arg, "0x")
	if !ok {
		return append([]byte{}, arg...), nil // not nil
	}
	key, err := hex.DecodeString(digits)
	if err != nil {
		return nil, fmt.Errorf("%w: pass two hexadecimal digits for each byte after 0x", err)
	}
	return key, nil
}

// writeKey writes how the tables' filters answer for the key.
func (r *report) writeKey(w io.Writer, key []byte) error {
	var b strings.Builder
	fmt.Fprintf(&b, "key %q = 0x%[1]x (%s)\n", key, analysis.Count(len(key), "byte"))
	for _, s := range r.Paths {
		if s.Note != "" {
			fmt.Fprintf(&b, "\n%s\n  %s\n", analysis.Printable(s.Path), analysis.Printable(s.Note))
		}
	}
	for _, t := range r.Tables {
		text := t.KeyText
		if text == "" {
			text = fmt.Sprintf("  %s: %s\n", t.Status, analysis.Printable(t.Reason))
		}
		fmt.Fprintf(&b, "\n%s\n%s", analysis.Printable(t.Path), text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
