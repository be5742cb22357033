package sstable_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// compareInternal orders internal keys as LevelDB's default comparer does. Those that are too short come first.
func compareInternal(a, b []byte) int {
	if len(a) < 8 || len(b) < 8 {
		return cmp.Compare(min(len(a), 8), min(len(b), 8))
	}
	if c := bytes.Compare(a[:len(a)-8], b[:len(b)-8]); c != 0 {
		return c
	}
	return -cmp.Compare(binary.LittleEndian.Uint64(a[len(a)-8:]), binary.LittleEndian.Uint64(b[len(b)-8:]))
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
		{"plain, with the empty key", sstable.PlainKeys, plainKeys("", "a", "aa", "ab", "b", "ba", "c")},
	} {
		for _, size := range []int{0, 60, 150} {
			for _, short := range []bool{false, true} {
				o := tableOptions{blockSize: size, interval: 4, internal: c.format == sstable.InternalKeys, policy: exact{t}, baseLg: 5}
				if short && o.internal {
					o.indexKey = shortInternalIndexKey
				} else if short {
					o.indexKey = shortIndexKey
				}
				v := orderedTable{name: fmt.Sprintf("%s, blocks of %d, short index keys %v", c.name, size, short), format: c.format}
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

// hides reports whether LevelDB's search for any of the stored keys, in the first block whose index key is not below it, ends
// elsewhere than where the key is.
func (v *orderedTable) hides(indexKeys [][]byte) bool {
	compare := bytes.Compare
	if v.format == sstable.InternalKeys {
		compare = compareInternal
	}
	for block, keys := range v.blocks {
		for _, key := range keys {
			if slices.IndexFunc(indexKeys, func(k []byte) bool { return compare(k, key) >= 0 }) != block {
				return true
			}
		}
	}
	return false
}

// entriesError reads all entries, of which there must be n, and returns the error that comes behind the last.
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
	rng := seeded(t, 2)
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

// Nothing is searched in an index whose keys do not rise, or are too short for internal ones: whatever is in its blocks, no key
// is denied.
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
		index []string // keys of the blocks, of which the first, the third and the last have no entry
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
	w := newTableWriter(t, &file, tableOptions{blockSize: 1 << 20, indexKey: func(_, _ []byte) []byte { return indexKeys[0] }})
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

// An index is judged only if all keys rise in the order of the default comparer; otherwise another comparer may have made it.
// The first key that does not fit is told.
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
		{"two that do not fit", plain, [][][]byte{p("b"), p("d"), p("f")}, p("a", "e", "e"), "data block 0, 61, is below the block's last one, 62"},
		{"two that do not fit, seen from the next", plain, [][][]byte{p("b"), p("d"), p("f")}, p("e", "a", "g"), "data block 0, 65, is not below the next block's first one, 64"},
		{"the second does not fit", plain, [][][]byte{p("b"), p("d"), p("f")}, p("c", "g", "g"), "data block 1, 67, is not below"},
		{"the last does not fit", plain, [][][]byte{p("b"), p("d"), p("f")}, p("c", "e", "e"), "data block 2, 65, is below"},
		{"keys fall later", plain, [][][]byte{p("b"), p("d"), p("c")}, p("a", "g", "e"), ""},
		{"keys fall later, seen from the next", plain, [][][]byte{p("b"), p("d"), p("c")}, p("z", "z", "z"), ""},
		{"a key twice in two blocks", plain, [][][]byte{p("a", "b"), p("b", "c")}, p("b", "c"), ""},
		{"a first block without entries", internal, [][][]byte{nil, {k("a", 1, 1)}}, [][]byte{k("", 2, 1), k("a", 1, 1)}, ""},
		{"a first block without entries, beyond the next", internal, [][][]byte{nil, {k("a", 1, 1)}}, [][]byte{k("b", 2, 1), k("a", 1, 1)}, "data block 0, "},

		// As plain keys these rise, and the index would not fit; as what they are they fall.
		{"internal keys, told", internal, [][][]byte{{k("a\x00", 5, 1)}, {k("a", 5, 1)}}, [][]byte{k("z", 1, 1), k("z", 1, 1)}, ""},
		// Taken for plain keys, which do not rise; as internal ones they do, and the index hides the last.
		{"internal keys of other types, found", auto, [][][]byte{{k("a", 5, 2), k("a", 4, 2)}, {k("b", 9, 2), k("b", 8, 2)}}, [][]byte{k("a", 4, 2), k("a", 3, 2)}, "data block 1, "},
		{"the same, sound", auto, [][][]byte{{k("a", 5, 2), k("a", 4, 2)}, {k("b", 9, 2), k("b", 8, 2)}}, [][]byte{k("a", 4, 2), k("b", 8, 2)}, ""},
		{"the same, told to be plain", plain, [][][]byte{{k("a", 5, 2), k("a", 4, 2)}, {k("b", 9, 2), k("b", 8, 2)}}, [][]byte{k("a", 4, 2), k("a", 3, 2)}, ""},
		// What they look like decides, even if the index fits to the other reading.
		{"internal keys, found", auto, [][][]byte{{k("a", 1, 1)}, {k("b", 2, 1)}}, [][]byte{k("b", 1, 1), k("b", 2, 1)}, "data block 0, "},
	} {
		n := 0
		for _, keys := range c.blocks {
			n += len(keys)
		}
		err := entriesError(t, openTable(t, blocksTable(t, c.blocks, c.index), sstable.WithKeys(c.format)), n)
		if c.want == "" {
			require.NoError(t, err, c.name)
		} else {
			require.ErrorContains(t, err, "index: the key of "+c.want, c.name)
		}
	}
}

// Comparers that are not LevelDB's default.
var comparers = map[string]func(a, b string) int{
	"reverse":       func(a, b string) int { return cmp.Compare(b, a) },
	"by length":     func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) },
	"by last bytes": func(a, b string) int { return cmp.Or(cmp.Compare(a[len(a)-1], b[len(b)-1]), cmp.Compare(a, b)) },
	// Chrome's IndexedDB: numbers as varints at the beginning, by their value, and then the rest.
	"by number": func(a, b string) int {
		x, n := binary.Uvarint([]byte(a))
		y, m := binary.Uvarint([]byte(b))
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a[n:], b[m:]))
	},
}

// Tables in the order of another comparer are no error, and no key of theirs is denied: a search by the index would go astray,
// and so none is tried.
func TestOtherComparers(t *testing.T) {
	for name, compare := range comparers {
		for _, internal := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, internal %v", name, internal), func(t *testing.T) {
				var users []string
				for i := range 400 {
					users = append(users, string(binary.AppendUvarint(nil, uint64(i*41)))+fmt.Sprintf("%d", i*i*7919%1000)+"abcdefgh"[:i%8])
				}
				slices.SortFunc(users, compare)
				stored, format := plainKeys(users...), sstable.PlainKeys
				if internal {
					format = sstable.InternalKeys
					stored = nil
					for i, user := range users {
						stored = append(stored, internalKey(user, uint64(1000+i), 1), internalKey(user, uint64(100+i), 0))
					}
				}
				file, w := writeTable(t, tableOptions{blockSize: 300, interval: 5, policy: exact{t}, internal: internal, baseLg: 8}, stored...)
				for _, opts := range [][]sstable.TableOption{nil, {sstable.WithKeys(format)}} {
					table := openTable(t, file, opts...)
					require.Equal(t, format, table.Keys())
					requireEntries(t, table, w, stored)
					filter, err := table.Filter(exact{t})
					require.NoError(t, err)
					for e := range table.Entries() {
						require.True(t, filter.MayContain(e.Key), "key %q", e.Key)
						require.True(t, filter.MayContainAt(table.Block(e.Block).Offset, e.Key), "key %q", e.Key)
						require.False(t, filter.MayContainAt(table.Block(e.Block).Offset, []byte("no such key")))
						_, ok := table.FindBlock(e.Key)
						require.False(t, ok)
					}
				}
			})
		}
	}
}

// checkWindows: filters where no data block begins, and data blocks whose window has an empty filter, are errors.
func TestFiltersThatDoNotFit(t *testing.T) {
	stored := plainKeys("a", "b", "c", "d")
	_, w := writeTable(t, tableOptions{}, stored...)
	var offsets []uint64
	for _, h := range w.dataBlocks {
		offsets = append(offsets, h.Offset)
	}
	require.Equal(t, []uint64{0, 29, 58, 87}, offsets)
	for _, c := range []struct {
		name   string
		baseLg int
		blocks []dataBlock
		end    uint64
		want   string
	}{
		{"as it should be", 6, []dataBlock{{0, []string{"a", "b", "c"}}, {87, []string{"d"}}}, 124, ""},
		{"windows of one block", 5, []dataBlock{{0, []string{"a", "b"}}, {58, []string{"c"}}, {87, []string{"d"}}}, 124, ""},
		{"fewer filters", 6, []dataBlock{{0, []string{"a", "b", "c"}}}, 64, ""},
		{"no filters", 6, nil, 0, ""},
		{"empty filters behind the last block", 6, []dataBlock{{0, []string{"a", "b", "c"}}, {87, []string{"d"}}}, 300, ""},
		{"a filter behind the last block", 6, []dataBlock{{0, []string{"a", "b", "c"}}, {87, []string{"d"}}, {200, []string{"e"}}}, 300,
			"filter 3 of windows of 2^6 bytes has keys, and no data block begins there"},
		{"a filter where no block begins", 4, []dataBlock{{0, []string{"a"}}, {29, []string{"b"}}, {40, []string{"x"}}, {58, []string{"c"}}, {87, []string{"d"}}}, 124,
			"filter 2 of windows of 2^4 bytes has keys, and no data block begins there"},
		{"an empty filter where a block begins", 4, []dataBlock{{0, []string{"a"}}, {29, []string{"b"}}, {87, []string{"d"}}}, 124,
			"filter 3 of windows of 2^4 bytes is empty, and a data block begins at 58"},
		{"an empty filter where the first block begins", 6, []dataBlock{{87, []string{"d"}}}, 124, "filter 0 of windows of 2^6 bytes is empty, and a data block begins at 0"},
		{"an empty filter where the last block begins", 6, []dataBlock{{0, []string{"a", "b", "c"}}}, 128, "filter 1 of windows of 2^6 bytes is empty, and a data block begins at 87"},
	} {
		t.Run(c.name, func(t *testing.T) {
			block := build(newBuilder(t, sstable.WithBaseLg(c.baseLg)), c.blocks, c.end)
			// As a block beside the data, under the name of a filter.
			file, w := writeTable(t, tableOptions{meta: []metaBlock{{"filter.test.Exact", block}}}, stored...)
			table := openTable(t, file)
			filter, err := table.Filter(exact{t})
			if c.want == "" {
				require.NoError(t, err)
				for _, key := range stored {
					require.True(t, filter.MayContain(key))
				}
				return
			}
			require.Nil(t, filter)
			var corrupt *sstable.CorruptionError
			require.ErrorAs(t, err, &corrupt)
			require.Equal(t, int64(w.dataBlocks[3].Offset+w.dataBlocks[3].Length+5), corrupt.Offset)
			require.ErrorContains(t, err, c.want)
			require.False(t, errors.Is(err, sstable.ErrNoFilter))
		})
	}
	// A malformed filter block is told by its own error, inside of the file's.
	file, _ := writeTable(t, tableOptions{meta: []metaBlock{{"filter.test.Exact", []byte{1, 0, 0, 0, 11}}}}, stored...)
	_, err := openTable(t, file).Filter(exact{t})
	var wrong *sstable.FilterBlockError
	require.ErrorAs(t, err, &wrong)
	var corrupt *sstable.CorruptionError
	require.ErrorAs(t, err, &corrupt)
}
