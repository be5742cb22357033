package sstable_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
	"github.com/levelbloom/levelbloom/sstable"
)

// compareInternal orders internal keys as LevelDB's default comparer does. Those that are too short
// come first.
func compareInternal(a, b []byte) int {
	if len(a) < 8 || len(b) < 8 {
		return cmp.Compare(min(len(a), 8), min(len(b), 8))
	}
	if c := bytes.Compare(a[:len(a)-8], b[:len(b)-8]); c != 0 {
		return c
	}
	return -cmp.Compare(binary.LittleEndian.Uint64(a[len(a)-8:]),
		binary.LittleEndian.Uint64(b[len(b)-8:]))
}

// An ordered table has its keys block by block, to see which of them an index hides.
type orderedTable struct {
	name   string
	format sstable.KeyFormat
	file   []byte
	w      *tableWriter
	blocks [][][]byte
}

func orderedTables(t testing.TB) (all []orderedTable) {
	var versions [][]byte
	for i, user := range []string{"", "a", "aa", "ab", "b", "ba", "c", "d"} {
		for s := range uint64(i%3 + 1) {
			versions = append(versions, internalKey(user, 500-s*100-uint64(i), 1))
		}
	}
	for _, c := range []struct {
		name   string
		format sstable.KeyFormat
		stored [][]byte
	}{
		{"internal", sstable.InternalKeys, internalKeys(names(17)...)},
		{"versions", sstable.InternalKeys, versions},
		{"plain", sstable.PlainKeys, plainKeys(names(17)...)},
		{"plain, with the empty key", sstable.PlainKeys,
			plainKeys("", "a", "aa", "ab", "b", "ba", "c")},
	} {
		for _, size := range []int{0, 60, 150} {
			for _, short := range []bool{false, true} {
				o := tableOptions{blockSize: size, interval: 4,
					internal: c.format == sstable.InternalKeys, policy: exact{t}, baseLg: 5}
				if short && o.internal {
					o.indexKey = shortInternalIndexKey
				} else if short {
					o.indexKey = shortIndexKey
				}
				v := orderedTable{name: fmt.Sprintf("%s, blocks of %d, short index keys %v", c.name,
					size, short), format: c.format}
				v.file, v.w = writeTable(t, o, c.stored...)
				v.blocks = make([][][]byte, len(v.w.dataBlocks))
				for e, err := range openTable(t, v.file, sstable.WithKeys(c.format)).Entries() {
					require.NoError(t, err)
					v.blocks[e.Block] = append(v.blocks[e.Block], bytes.Clone(e.Stored))
				}
				all = append(all, v)
			}
		}
	}
	return all
}

// hides reports whether LevelDB's search for any of the stored keys, in the first block whose index
// key is not below it, ends elsewhere than where the key is.
func (v *orderedTable) hides(indexKeys [][]byte) bool {
	compare := bytes.Compare
	if v.format == sstable.InternalKeys {
		compare = compareInternal
	}
	for block, keys := range v.blocks {
		for _, key := range keys {
			if slices.IndexFunc(indexKeys,
				func(k []byte) bool { return compare(k, key) >= 0 }) != block {
				return true
			}
		}
	}
	return false
}

// entriesError reads all entries, of which there must be n, and returns the error that comes behind
// the last.
func entriesError(t testing.TB, table *sstable.Table, n int) error {
	for _, err := range table.Entries() {
		if err != nil {
			require.Zero(t, n, "the error comes after the last entry: %v", err)
			return err
		}
		n--
	}
	require.Zero(t, n)
	return nil
}

// Index keys that are wrong: Entries tells so if, and only if, they hide an entry from a lookup.
func TestIndexKeys(t *testing.T) {
	rng := policytest.Rand(t, 2)
	for _, v := range orderedTables(t) {
		t.Run(v.name, func(t *testing.T) {
			entries := 0
			for _, keys := range v.blocks {
				entries += len(keys)
			}
			require.False(t, v.hides(v.w.indexKeys))
			hidden, harmless := 0, 0
			for range 400 {
				keys := slices.Clone(v.w.indexKeys)
				i := rng.Intn(len(keys))
				switch key := bytes.Clone(keys[i]); rng.Intn(5) {
				case 0:
					if len(key) > 0 {
						key[rng.Intn(len(key))] ^= 1 << rng.Intn(8)
					}
					keys[i] = key
				case 1:
					keys[i] = keys[rng.Intn(len(keys))]
				case 2:
					block := v.blocks[rng.Intn(len(v.blocks))]
					keys[i] = block[rng.Intn(len(block))]
				case 3:
					keys[i] = key[:rng.Intn(len(key)+1)]
				case 4:
					keys[i] = append(key, byte(rng.Intn(256)))
				}
				hides := v.hides(keys)
				if hides {
					hidden++
				} else {
					harmless++
				}
				file := v.w.withIndex(v.file, keys)
				for _, format := range []sstable.KeyFormat{v.format, sstable.AutoKeys} {
					table := openTable(t, file, sstable.WithKeys(format))
					if table.Keys() != v.format {
						continue // among so few keys one may tip the scales
					}
					err := entriesError(t, table, entries)
					require.Equal(t, hides, err != nil, "index keys %q: %v", keys, err)
					if err != nil {
						var corrupt *sstable.CorruptionError
						require.ErrorAs(t, err, &corrupt)
						require.ErrorIs(t, err, sstable.ErrIndexOrder)
						require.Equal(t, int64(v.w.indexBlock.Offset), corrupt.Offset)
						require.ErrorContains(t, err, "index: the key of data block")
					}
				}
			}
			require.Greater(t, hidden, 40)
			require.Greater(t, harmless, 20)
		})
	}
}

// Nothing is searched in an index whose keys do not rise, or are too short for internal ones:
// whatever is in its blocks, no key is denied.
func TestUnsortedIndex(t *testing.T) {
	stored := internalKeys("a", "b", "c", "d")
	file, w := writeTable(t, tableOptions{policy: exact{t}, internal: true, baseLg: 5}, stored...)
	for name, change := range map[string]func(keys [][]byte){
		"equal":     func(keys [][]byte) { keys[1] = keys[2] },
		"falling":   func(keys [][]byte) { keys[1], keys[2] = keys[2], keys[1] },
		"too short": func(keys [][]byte) { keys[0] = []byte("a") },
		"last one":  func(keys [][]byte) { keys[3] = []byte("d") },
	} {
		keys := slices.Clone(w.indexKeys)
		change(keys)
		table := openTable(t, w.withIndex(file, keys), sstable.WithKeys(sstable.InternalKeys))
		filter, err := table.Filter(exact{t})
		require.NoError(t, err)
		for _, user := range []string{"a", "b", "c", "d", "e", ""} {
			require.True(t, filter.MayContain([]byte(user)), "%s: %s", name, user)
			_, ok := table.FindBlock([]byte(user))
			require.False(t, ok, name)
		}
	}
	filter, err := openTable(t, file).Filter(exact{t})
	require.NoError(t, err)
	require.False(t, filter.MayContain(nil))
}

// A data block without entries must not hide those of the next.
func TestIndexKeyOfEmptyBlock(t *testing.T) {
	for _, c := range []struct {
		// keys of the blocks, of which the first, the third and the last have no entry
		index []string
		want  string
	}{
		{[]string{"", "k", "k", "m", "z"}, ""},
		{[]string{"a", "b", "k", "m", "m"}, ""},
		{[]string{"b", "c", "k", "m", "z"}, "index: the key of data block 0"},
		{[]string{"a", "c", "m", "n", "z"}, "index: the key of data block 2"},
		{[]string{"a", "c", "aa", "m", "z"}, "index: the key of data block 2"},
		{[]string{"a", "c", "k", "m", "b"}, "index: the key of data block 4"},
	} {
		var file bytes.Buffer
		w := newTableWriter(t, &file, tableOptions{blockSize: 1 << 20})
		next := 0
		end := func() {
			w.endBlock()
			w.index.add([]byte(c.index[next]), encodeHandle(w.pending))
			w.pending.Length = 0
			next++
		}
		end()
		w.add([]byte("b"), nil)
		end()
		end()
		w.add([]byte("m"), nil)
		end()
		end()
		w.finish()
		err := entriesError(t, openTable(t, file.Bytes()), 2)
		if c.want == "" {
			require.NoError(t, err, "%q", c.index)
		} else {
			require.ErrorContains(t, err, c.want, "%q", c.index)
		}
	}
}

// blocksTable writes one data block for each element, with these index keys.
func blocksTable(t testing.TB, blocks [][][]byte, indexKeys [][]byte) []byte {
	var file bytes.Buffer
	w := newTableWriter(t, &file, tableOptions{blockSize: 1 << 20,
		indexKey: func(_, _ []byte) []byte { return indexKeys[0] }})
	for i, keys := range blocks {
		for _, key := range keys {
			w.add(key, nil)
		}
		w.endBlock()
		w.addToIndex(nil)
		if i+1 < len(blocks) {
			indexKeys = indexKeys[1:]
		}
	}
	w.finish()
	return file.Bytes()
}

// An index is judged only if all keys rise in the order of the default comparer; otherwise another
// comparer may have made it. The first key that does not fit is told.
func TestJudgedIndex(t *testing.T) {
	const auto, internal, plain = sstable.AutoKeys, sstable.InternalKeys, sstable.PlainKeys
	p := func(keys ...string) [][]byte { return plainKeys(keys...) }
	k := internalKey
	for _, c := range []struct {
		name   string
		format sstable.KeyFormat
		blocks [][][]byte
		index  [][]byte
		want   string
	}{
		{"two that do not fit", plain, [][][]byte{p("b"), p("d"), p("f")}, p("a", "e", "e"),
			"data block 0, 61, is below the block's last one, 62"},
		{"two that do not fit, seen from the next", plain, [][][]byte{p("b"), p("d"), p("f")},
			p("e", "z", "z"), "data block 0, 65, is not below the next block's first one, 64"},
		{"the second does not fit", plain, [][][]byte{p("b"), p("d"), p("f")}, p("c", "g", "g"),
			"data block 1, 67, is not below"},
		{"the last does not fit", plain, [][][]byte{p("b"), p("d"), p("f")}, p("c", "e", "e"),
			"data block 2, 65, is below"},
		{"keys fall later", plain, [][][]byte{p("b"), p("d"), p("c")}, p("a", "g", "e"), ""},
		{"keys fall later, seen from the next", plain, [][][]byte{p("b"), p("d"), p("c")},
			p("z", "z", "z"), ""},
		{"a key twice in two blocks", plain, [][][]byte{p("a", "b"), p("b", "c")}, p("b", "c"), ""},
		{"a first block without entries", internal, [][][]byte{nil, {k("a", 1, 1)}},
			[][]byte{k("", 2, 1), k("a", 1, 1)}, ""},
		{"a first block without entries, beyond the next", internal, [][][]byte{nil,
			{k("a", 1, 1)}}, [][]byte{k("b", 2, 1), k("a", 1, 1)}, "data block 0, "},

		// As plain keys these rise, and the index would not fit; as what they are they fall.
		{"internal keys, told", internal, [][][]byte{{k("a\x00", 5, 1)}, {k("a", 5, 1)}},
			[][]byte{k("z", 1, 1), k("z", 1, 1)}, ""},
		// Taken for plain keys, which do not rise; as internal ones they do, and the index hides
		// the last.
		{"internal keys of other types, found", auto, [][][]byte{{k("a", 5, 2), k("a", 4, 2)},
			{k("b", 9, 2), k("b", 8, 2)}}, [][]byte{k("a", 4, 2), k("a", 3, 2)}, "data block 1, "},
		{"the same, sound", auto, [][][]byte{{k("a", 5, 2), k("a", 4, 2)},
			{k("b", 9, 2), k("b", 8, 2)}}, [][]byte{k("a", 4, 2), k("b", 8, 2)}, ""},
		{"the same, told to be plain", plain, [][][]byte{{k("a", 5, 2), k("a", 4, 2)},
			{k("b", 9, 2), k("b", 8, 2)}}, [][]byte{k("a", 4, 2), k("a", 3, 2)}, ""},
		// What they look like decides, even if the index fits to the other reading.
		{"internal keys, found", auto, [][][]byte{{k("a", 1, 1)}, {k("b", 2, 1)}},
			[][]byte{k("b", 1, 1), k("b", 2, 1)}, "data block 0, "},
	} {
		n := 0
		for _, keys := range c.blocks {
			n += len(keys)
		}
		err := entriesError(t,
			openTable(t, blocksTable(t, c.blocks, c.index), sstable.WithKeys(c.format)), n)
		if c.want == "" {
			require.NoError(t, err, c.name)
		} else {
			require.ErrorContains(t, err, "index: the key of "+c.want, c.name)
		}
	}
}
