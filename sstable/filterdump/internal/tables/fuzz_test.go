package tables_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Any bytes anywhere in a table of any of Pebble's formats, with the checksums of its blocks put
// right or not: opening and reading it ends, with an error of a documented type or without.
// Pebble's reader may crash, which is why it runs in a process of its own.
func FuzzPebble(f *testing.F) {
	paths := smallTables(f)
	names := slices.Sorted(maps.Keys(paths))
	for i := range names {
		f.Add(uint8(i), uint16(0), []byte{}, false)
		f.Add(uint8(i), uint16(200+i), []byte{0xff, 0, 1}, true)
	}
	path := filepath.Join(f.TempDir(), "000001.sst")
	reader := newReader(f)
	f.Fuzz(func(t *testing.T, which uint8, at uint16, data []byte, mend bool) {
		original := paths[names[int(which)%len(names)]]
		table := readFile(t, original)
		begin := int(at) % len(table)
		end := begin + copy(table[begin:], data)
		blocks, checksum := pebbleLayout(t, original)
		for _, h := range blocks {
			if mend && int(h.Offset) < end && begin <= int(h.Offset+h.Length) {
				sign(table, h, checksum)
			}
		}
		require.NoError(t, os.WriteFile(path, table, 0o600))
		reader.t = t
		_, _ = reader.read(path) // which fails the test at an undocumented error
	})
}
