package scan

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// explainKey says how the table's filter answers for the key, probe by probe, and whether the table
// has it.
func explainKey(ctx context.Context, t tables.Table, key []byte) (string, error) {
	var unsupported *tables.UnsupportedError
	there := "it is not in the table"
	switch present, err := has(ctx, t, key); {
	case errors.As(err, &unsupported):
		there = "whether it is in the table cannot be read"
	case err != nil:
		return "", err
	case present:
		there = "it is in the table"
	}
	f := t.Info().Filters
	if f == nil {
		return fmt.Sprintf("  no filter; %s\n", there), nil
	}
	i := t.Locate(key)
	if i < 0 {
		return fmt.Sprintf("  a lookup reads no filter: no block can have the key; %s\n",
			there), nil
	}
	filter := f.Each[i]
	text := fmt.Sprintf("  %s, filter %d of %d", analysis.Printable(f.Policy), i+1, len(f.Each))
	switch {
	case len(filter) == 0:
		return fmt.Sprintf("%s, which has no keys: absent; %s\n", text, there), nil
	case f.Reader == nil:
		return fmt.Sprintf("%s, of a policy that is not known here; %s\n", text, there), nil
	}
	encoding, info, err := f.Reader.Parse(filter)
	answer := "absent"
	if f.Reader.MayContain(filter, key) {
		answer = "may contain"
	}
	text += fmt.Sprintf(", %s: %s; %s\n", encoding, answer, there)
	if err != nil {
		text += fmt.Sprintf("  %v\n", err)
	} else {
		text += probesText(info, key)
	}
	if why := t.Info().Unverified; why != "" {
		text += fmt.Sprintf("  but %s\n", analysis.Printable(why))
	}
	return text, nil
}

// probesText lists the bits that a lookup of key reads, if they are known.
func probesText(info policy.Info, key []byte) string {
	var b strings.Builder
	for j, bit := range info.Probes(nil, key) {
		state := "clear: the key was not added"
		if info.Payload[bit/8]>>(bit%8)&1 == 1 {
			state = "set"
		}
		fmt.Fprintf(&b, "  probe %2d  bit %10d  = bit %d of byte %8d  %s\n",
			j+1, bit, bit%8, bit/8, state)
	}
	return b.String()
}

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
