package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/levelbloom/levelbloom/sstable/filterdump/encoding"
	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

// parseKey reads the argument of -key: hex after 0x, or text.
func parseKey(arg string) ([]byte, error) {
	digits, ok := strings.CutPrefix(arg, "0x")
	if !ok {
		return []byte(arg), nil
	}
	key, err := hex.DecodeString(digits)
	if err != nil {
		return nil, fmt.Errorf("-key %s: %w: after 0x there are two hexadecimal digits for each byte", arg, err)
	}
	return key, nil
}

// showKey explains how the table's filter answers for the key, and whether the table has it.
func showKey(ctx context.Context, w io.Writer, t tables.Table, key []byte) error {
	var unsupported *tables.UnsupportedError
	there := "it is not in the table"
	switch present, err := has(ctx, t, key); {
	case errors.As(err, &unsupported):
		there = "whether it is in the table cannot be read"
	case err != nil:
		return err
	case present:
		there = "it is in the table"
	}
	info := t.Info()
	f := info.Filters
	if f == nil {
		fmt.Fprintf(w, "  no filter; %s\n", there)
		return nil
	}
	i := t.Locate(key)
	if i < 0 {
		fmt.Fprintf(w, "  a lookup asks no filter: no data block of the table is searched for this key; %s\n", there)
		return nil
	}
	filter := f.Each[i]
	fmt.Fprintf(w, "  %s, filter %d of %d", f.Policy, i+1, len(f.Each))
	if len(filter) == 0 {
		fmt.Fprintf(w, ", which has no keys: absent; %s\n", there)
		return nil
	}
	if f.Encoding == nil {
		fmt.Fprintf(w, ", of an unknown encoding; %s\n", there)
		return nil
	}
	x := f.Encoding.Explain(filter, key)
	answer := "absent"
	if x.MayContain {
		answer = "may contain"
	}
	fmt.Fprintf(w, ", %s: %s; %s\n", f.Encoding.Of(filter), answer, there)
	var about []string
	if x.HashBits > 0 {
		about = append(about, fmt.Sprintf("hash 0x%0*x", x.HashBits/4, x.Hash))
	}
	if x.Note != "" {
		about = append(about, x.Note)
	}
	fmt.Fprintf(w, "  %s\n", strings.Join(about, ", "))
	showProbes(w, x)
	if info.Unverified != "" {
		fmt.Fprintf(w, "  but %s\n", info.Unverified)
	}
	return nil
}

// showProbes shows what the filter was asked, and what it said.
func showProbes(w io.Writer, x encoding.Explanation) {
	for j, p := range x.Probes {
		state := "clear: " + notAdded
		if p.Set {
			state = "set"
		}
		inLine := ""
		if x.LineBits > 0 {
			inLine = fmt.Sprintf("  = bit %3d of the line", p.Bit%x.LineBits)
		}
		fmt.Fprintf(w, "  probe %2d  bit %10d%s  = bit %d of byte %8d  %s\n", j+1, p.Bit, inLine, p.Bit%8, p.Bit/8, state)
	}
	f := x.Fuse
	if f == nil {
		return
	}
	digits := f.Width / 4
	for j, p := range f.Probes {
		bit := p.Cell * int64(f.Width)
		fmt.Fprintf(w, "  probe %2d  cell %9d  = cell %6d of segment %8d  = %d bits from bit %d of byte %8d  0x%0*x\n",
			j+1, p.Cell, p.Cell%f.Segment, p.Cell/f.Segment, f.Width, bit%8, bit/8, digits, p.Contents)
	}
	comparison := "is the key's fingerprint"
	if f.Sum() != f.Fingerprint {
		comparison = fmt.Sprintf("is not the key's fingerprint, 0x%0*x: %s", digits, f.Fingerprint, notAdded)
	}
	fmt.Fprintf(w, "  exclusive or: 0x%0*x %s\n", digits, f.Sum(), comparison)
}

const notAdded = "the key was not added"

// has looks for the key by reading the table from its beginning.
func has(ctx context.Context, t tables.Table, key []byte) (bool, error) {
	found := errors.New("found")
	err := t.Keys(func(_ int, k []byte) error {
		if string(k) == string(key) {
			return found
		}
		return ctx.Err()
	})
	if err == found {
		return true, nil
	}
	return false, err
}

// keyText writes a key in hex, and as text where it is text.
func keyText(key []byte) string {
	text := fmt.Sprintf("0x%x (%s)", key, count(len(key), "byte"))
	if utf8.Valid(key) && strings.IndexFunc(string(key), func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		text = fmt.Sprintf("%q = ", key) + text
	}
	return text
}
