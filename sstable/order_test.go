package sstable_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// entriesError reads all entries, of which there must be n, and returns the error that comes after
// the last.
func entriesError(t testing.TB, table *sstable.Table, n int) (last error) {
	for _, err := range table.Entries() {
		require.NoError(t, last, "the error comes last")
		if last = err; err == nil {
			n--
		}
	}
	require.Zero(t, n, "%v", last)
	return last
}

// An index is judged only if all keys rise in the order of the default comparer; otherwise another
// comparer may have made it. The error names the first key that does not fit.
func TestJudgedIndex(t *testing.T) {
	p, k := plainKeys, internalKey
	empty := [][][]byte{nil, p("b"), nil, p("m"), nil}
	for _, c := range []struct {
		name   string
		blocks [][][]byte
		index  [][]byte
		want   string
	}{
		{"two that do not fit", [][][]byte{p("b"), p("d"), p("f")}, p("a", "e", "e"),
			"data block 0, 61, is below the block's last one, 62"},
		{"two that do not fit, seen from the next", [][][]byte{p("b"), p("d"), p("f")},
			p("e", "z", "z"), "data block 0, 65, is not below the next block's first one, 64"},
		{"the last does not fit", [][][]byte{p("b"), p("d"), p("f")}, p("c", "e", "e"),
			"data block 2, 65, is below"},
		{"keys fall later", [][][]byte{p("b"), p("d"), p("c")}, p("a", "g", "e"), ""},
		{"a key twice in two blocks", [][][]byte{p("a", "b"), p("b", "c")}, p("b", "c"), ""},
		{"a first block without entries", [][][]byte{nil, {k("a", 1, 1)}},
			[][]byte{k("", 2, 1), k("a", 1, 1)}, ""},
		{"too short for an internal key", [][][]byte{nil, {k("a", 2, 1), k("a", 1, 1)}},
			[][]byte{[]byte("a"), k("a", 1, 1)},
			"data block 0, 61, is too short for an internal one"},
		// A data block without entries must not hide those of the next.
		{"empty blocks", empty, p("", "k", "k", "m", "z"), ""},
		{"the first hides b", empty, p("b", "c", "k", "m", "z"), "data block 0, "},
		{"the third hides m", empty, p("a", "c", "m", "n", "z"), "data block 2, "},
		{"the third is below b", empty, p("a", "c", "aa", "m", "z"), "data block 2, "},
		// Taken for plain keys, which do not rise; as internal ones they do, and the index hides
		// the last.
		{"internal keys of other types, found", [][][]byte{{k("a", 5, 2), k("a", 4, 2)},
			{k("b", 9, 2), k("b", 8, 2)}}, [][]byte{k("a", 4, 2), k("a", 3, 2)}, "data block 1, "},
		{"the same, sound", [][][]byte{{k("a", 5, 2), k("a", 4, 2)},
			{k("b", 9, 2), k("b", 8, 2)}}, [][]byte{k("a", 4, 2), k("b", 8, 2)}, ""},
		// What they look like decides, even if the index fits to the other reading.
		{"internal keys, found", [][][]byte{{k("a", 1, 1)}, {k("b", 2, 1)}},
			[][]byte{k("b", 1, 1), k("b", 2, 1)}, "data block 0, "},
	} {
		f := writeBlocks(tableOptions{indexKeys: c.index}, c.blocks...)
		table := openTable(t, f.bytes)
		err := entriesError(t, table, len(slices.Concat(c.blocks...)))
		if c.want == "" {
			require.NoError(t, err, c.name)
		} else {
			require.ErrorContains(t, err, "the key of "+c.want, c.name)
			require.ErrorIs(t, err, sstable.ErrIndexOrder)
			var corrupt *sstable.CorruptionError
			require.ErrorAs(t, err, &corrupt)
			require.EqualValues(t, f.indexBlock.Offset, corrupt.Offset, c.name)
		}
	}
}
