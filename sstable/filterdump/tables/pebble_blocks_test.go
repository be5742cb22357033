package tables

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"
	"github.com/cockroachdb/pebble/v2/sstable/rowblk"
	"github.com/stretchr/testify/require"
)

// pebbleRand returns random numbers from a fixed seed, which it prints if the test fails.
func pebbleRand(t *testing.T, seed int64) *rand.Rand {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewSource(seed))
}

// sortedStrings returns n byte strings in order, some of them equal, many with common beginnings.
func sortedStrings(rng *rand.Rand, n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = bytes.Repeat([]byte{'a'}, rng.Intn(4))
		for range rng.Intn(4) {
			all[i] = append(all[i], byte(rng.Intn(3)))
		}
	}
	slices.SortFunc(all, bytes.Compare)
	return all
}

func TestWalkRows(t *testing.T) {
	rng := pebbleRand(t, 1)
	for n := range 50 {
		keys := sortedStrings(rng, n)
		w := rowblk.Writer{RestartInterval: 1 + rng.Intn(5)}
		for i, key := range keys {
			require.NoError(t, w.AddRaw(key, fmt.Appendf(nil, "%d", i)))
		}
		i := 0
		require.NoError(t, walkRows(w.Finish(), func(key, value []byte) error {
			require.Equal(t, string(keys[i]), string(key))
			require.Equal(t, fmt.Sprint(i), string(value))
			i++
			return nil
		}))
		require.Equal(t, n, i)
	}
}

func TestWalkRowsMalformed(t *testing.T) {
	const oneRestart = "\x00\x00\x00\x00\x01\x00\x00\x00"
	none := func(_, _ []byte) error { return nil }
	for name, block := range map[string]string{
		"nothing":                        "",
		"less than a number":             "\x01\x00\x00",
		"no restart":                     "\x00\x00\x00\x00",
		"one restart too many":           "\x01\x00\x00\x00",
		"many restarts":                  oneRestart[:4] + "\xff\xff\xff\xff",
		"a negative number of restarts":  oneRestart[:4] + "\xff\xff\xff\x7f",
		"a hash index":                   "\x00\x01\x00k" + oneRestart[:6] + "\x00\x80",
		"a first key that shares":        "\x01\x01\x00k" + oneRestart,
		"a first key that shares 0 of 2": "\x80\x00\x01\x00k" + oneRestart,
		"no lengths":                     "\x00" + oneRestart,
		"half of the lengths":            "\x00\x01" + oneRestart,
		"a length that does not end":     "\x00\x01\x80" + oneRestart,
		"a length of 6 bytes":            "\x00\x81\x80\x80\x80\x80\x00\x00k" + oneRestart,
		"a length of 33 bits":            "\x00\x80\x80\x80\x80\x10\x00k" + oneRestart,
		"more shared than there is":      "\x00\x01\x00k\x02\x01\x00k" + oneRestart,
		"a key beyond the end":           "\x00\x02\x00k" + oneRestart,
		"a value beyond the end":         "\x00\x01\x01k" + oneRestart,
		"lengths that wrap":              "\x00\xff\xff\xff\xff\x0f\xff\xff\xff\xff\x0fk" + oneRestart,
	} {
		require.Error(t, walkRows([]byte(block), none), name)
	}
	require.NoError(t, walkRows([]byte("\x00\x01\x00k\x01\x01\x00k"+oneRestart), none))
	require.NoError(t, walkRows([]byte(oneRestart), none))
	require.ErrorContains(t, walkRows([]byte("\x00\x01\x00k"+oneRestart), func(_, _ []byte) error { return fmt.Errorf("mine") }), "mine")
}

// column returns a block of a column and another, in which rows differ.
func column(t *testing.T, rows int, w colblk.ColumnWriter) (*colBlock, []byte) {
	var other colblk.RawBytesBuilder
	other.Init()
	for range rows {
		other.Put([]byte("x"))
	}
	data := colblk.FinishBlock(rows, []colblk.ColumnWriter{w, &other})
	b, err := newColBlock(data, 0, w.DataType(0), colblk.DataTypeBytes)
	require.NoError(t, err)
	require.Equal(t, rows, b.rows)
	return b, data
}

func TestColUints(t *testing.T) {
	rng := pebbleRand(t, 2)
	encodings := map[colblk.UintEncoding]bool{}
	for range 2000 {
		var w colblk.UintBuilder
		w.Init()
		base, bits := rng.Uint64()>>rng.Intn(65)*uint64(rng.Intn(2)), rng.Intn(65)
		values := make([]uint64, 1+rng.Intn(20))
		for i := range values {
			values[i] = base + rng.Uint64()>>bits
			w.Set(i, values[i])
		}
		b, data := column(t, len(values), &w)
		u, err := b.uints(0)
		require.NoError(t, err)
		for i, v := range values {
			require.Equal(t, v, u.at(i))
		}
		encodings[colblk.UintEncoding(data[b.pages[0]])] = true
	}
	require.Len(t, encodings, 5+4, "0, 1, 2, 4 and 8 bytes, and the first four with a base")
}

func TestColBytes(t *testing.T) {
	rng := pebbleRand(t, 3)
	for n := range 200 {
		var w colblk.RawBytesBuilder
		w.Init()
		values := make([][]byte, n)
		for i := range values {
			values[i] = make([]byte, rng.Intn(1+n))
			rng.Read(values[i])
			w.Put(values[i])
		}
		b, _ := column(t, n, &w)
		s, err := b.bytes(0)
		require.NoError(t, err)
		for i, v := range values {
			require.Equal(t, v, s.at(i))
		}
	}
}

func TestColBits(t *testing.T) {
	rng := pebbleRand(t, 4)
	for n := range 300 {
		var w colblk.BitmapBuilder
		values := make([]bool, n)
		for i := range values {
			if values[i] = rng.Intn(n) == 0; values[i] {
				w.Set(i)
			}
		}
		b, _ := column(t, n, &w)
		words, err := b.bits(0)
		require.NoError(t, err)
		require.Equal(t, slices.Contains(values, true), words != nil)
		for i, v := range values {
			require.Equal(t, v, words != nil && words[i/8]>>(i%8)&1 == 1)
		}
	}
}

func TestColPrefixes(t *testing.T) {
	rng := pebbleRand(t, 5)
	for n := 1; n < 100; n++ {
		keys := sortedStrings(rng, n)
		for i := range keys {
			keys[i] = append([]byte("k"), keys[i]...) // the builder wants no empty ones
		}
		var w colblk.PrefixBytesBuilder
		w.Init(1 << rng.Intn(6))
		var rest colblk.RawBytesBuilder
		rest.Init()
		longest := 0
		for i, key := range keys {
			shared := 0
			if i > 0 {
				for shared < min(len(key), len(keys[i-1])) && key[shared] == keys[i-1][shared] {
					shared++
				}
			}
			w.Put(key, shared)
			suffix := make([]byte, rng.Intn(3)*rng.Intn(3))
			rest.Put(suffix)
			longest = max(longest, len(key)+len(suffix))
		}
		data := colblk.FinishBlock(n, []colblk.ColumnWriter{&w, &rest})
		b, err := newColBlock(data, 0, colblk.DataTypePrefixBytes, colblk.DataTypeBytes)
		require.NoError(t, err)
		p, err := b.prefixes(0)
		require.NoError(t, err)
		suffixes, err := b.bytes(1)
		require.NoError(t, err)
		require.Equal(t, longest, p.maxLen(n, suffixes))
	}
}

func TestColBlockMalformed(t *testing.T) {
	u32 := binary.LittleEndian.AppendUint32
	header := func(version byte, columns uint16, rows uint32) []byte {
		return u32(binary.LittleEndian.AppendUint16([]byte{version}, columns), rows)
	}
	page := func(b []byte, kind colblk.DataType, offset uint32) []byte { return u32(append(b, byte(kind)), offset) }
	sound := append(page(page(header(1, 2, 0), colblk.DataTypeUint, 17), colblk.DataTypeBool, 17), 1, 0)
	for name, c := range map[string]struct {
		data []byte
		ok   bool
	}{
		"sound":               {sound, true},
		"nothing":             {nil, false},
		"without its end":     {sound[:17], false},
		"half of a column":    {sound[:10:10], false},
		"no columns":          {sound[:7:7], false},
		"version":             {append(header(2, 2, 0), sound[7:]...), false},
		"number of columns":   {append(header(1, 3, 0), sound[7:]...), false},
		"many rows":           {append(header(1, 2, 20), sound[7:]...), false},
		"type":                {append(page(page(header(1, 2, 0), colblk.DataTypeBytes, 17), colblk.DataTypeBool, 17), 1, 0), false},
		"page in the header":  {append(page(page(header(1, 2, 0), colblk.DataTypeUint, 16), colblk.DataTypeBool, 17), 1, 0), false},
		"page before page":    {append(page(page(header(1, 2, 0), colblk.DataTypeUint, 18), colblk.DataTypeBool, 17), 1, 0), false},
		"page behind the end": {append(page(page(header(1, 2, 0), colblk.DataTypeUint, 17), colblk.DataTypeBool, 19), 1, 0), false},
	} {
		_, err := newColBlock(c.data, 0, colblk.DataTypeUint, colblk.DataTypeBool)
		require.Equal(t, c.ok, err == nil, "%s: %v", name, err)
	}
}

// Each column ends where the next one begins, and not elsewhere.
func TestColumnsMalformed(t *testing.T) {
	const rows = 3
	uints := func(b *colBlock) error { _, err := b.uints(0); return err }
	strings := func(b *colBlock) error { _, err := b.bytes(0); return err }
	bits := func(b *colBlock) error { _, err := b.bits(0); return err }
	prefixes := func(b *colBlock) error { _, err := b.prefixes(0); return err }
	base := make([]byte, 8)
	for name, c := range map[string]struct {
		kind   colblk.DataType
		rows   uint32
		column []byte
		read   func(*colBlock) error
		ok     bool
	}{
		"integers":               {colblk.DataTypeUint, rows, []byte{1, 1, 2, 3}, uints, true},
		"no integers":            {colblk.DataTypeUint, 0, nil, uints, true},
		"no encoding":            {colblk.DataTypeUint, rows, nil, uints, false},
		"3 bytes each":           {colblk.DataTypeUint, rows, []byte{3, 0, 0, 0, 0, 0, 0, 0, 0, 0}, uints, false},
		"8 bytes and a base":     {colblk.DataTypeUint, rows, append([]byte{0x88}, make([]byte, 8+3+24)...), uints, false},
		"half a base":            {colblk.DataTypeUint, rows, []byte{0x80, 0, 0, 0}, uints, false},
		"too few":                {colblk.DataTypeUint, rows, []byte{1, 1, 2}, uints, false},
		"too many":               {colblk.DataTypeUint, rows, []byte{1, 1, 2, 3, 4}, uints, false},
		"too many of no bytes":   {colblk.DataTypeUint, rows, []byte{0, 1}, uints, false},
		"aligned behind the end": {colblk.DataTypeUint, rows, []byte{8}, uints, false},

		"strings":                {colblk.DataTypeBytes, rows, []byte{1, 0, 1, 1, 2, 'a', 'b'}, strings, true},
		"no strings":             {colblk.DataTypeBytes, 0, nil, strings, true},
		"none, but a byte":       {colblk.DataTypeBytes, 0, []byte{0}, strings, false},
		"no offsets":             {colblk.DataTypeBytes, rows, nil, strings, false},
		"backwards":              {colblk.DataTypeBytes, rows, []byte{1, 0, 2, 1, 2, 'a', 'b'}, strings, false},
		"beyond the end":         {colblk.DataTypeBytes, rows, []byte{1, 0, 1, 1, 3, 'a', 'b'}, strings, false},
		"far beyond the end":     {colblk.DataTypeBytes, rows, append([]byte{4, 0, 0, 0}, bytes.Repeat([]byte{0xff}, 16)...), strings, false},
		"before the end":         {colblk.DataTypeBytes, rows, []byte{1, 0, 1, 1, 1, 'a', 'b'}, strings, false},
		"offsets with a base":    {colblk.DataTypeBytes, rows, append(append([]byte{0x81, 1}, base[1:]...), 0, 0, 0, 0, 'a'), strings, false},
		"offsets with a base 0":  {colblk.DataTypeBytes, rows, append(append([]byte{0x81}, base...), 0, 0, 0, 1, 'a'), strings, true},
		"offsets of 8 bytes":     {colblk.DataTypeBytes, rows, append([]byte{8, 0, 0, 0}, make([]byte, 32)...), strings, false},
		"bits":                   {colblk.DataTypeBool, rows, append([]byte{0, 0, 0, 0}, make([]byte, 16)...), bits, true},
		"bits, all 0":            {colblk.DataTypeBool, rows, []byte{1}, bits, true},
		"bits, all 0, and more":  {colblk.DataTypeBool, rows, []byte{1, 0}, bits, false},
		"bits of no encoding":    {colblk.DataTypeBool, rows, nil, bits, false},
		"bits of a new encoding": {colblk.DataTypeBool, rows, []byte{2}, bits, false},
		"bits without a summary": {colblk.DataTypeBool, rows, append([]byte{0, 0, 0, 0}, make([]byte, 8)...), bits, false},

		"prefixes":               {colblk.DataTypePrefixBytes, rows, []byte{4, 1, 0, 0, 1, 2, 3, 'a', 'b', 'c'}, prefixes, true},
		"prefixes, no bytes":     {colblk.DataTypePrefixBytes, rows, nil, prefixes, false},
		"prefixes of no rows":    {colblk.DataTypePrefixBytes, 0, []byte{4}, prefixes, false},
		"bundles of any size":    {colblk.DataTypePrefixBytes, rows, []byte{17, 1, 0, 0, 1, 2, 3, 'a', 'b', 'c'}, prefixes, false},
		"prefixes backwards":     {colblk.DataTypePrefixBytes, rows, []byte{4, 1, 1, 0, 1, 2, 3, 'a', 'b', 'c'}, prefixes, false},
		"more bundles than that": {colblk.DataTypePrefixBytes, rows, []byte{0, 1, 0, 0, 1, 2, 3, 'a', 'b', 'c'}, prefixes, false},
	} {
		data := []byte{colVersion, 1, 0}
		data = binary.LittleEndian.AppendUint32(data, c.rows)
		data = append(data, byte(c.kind), 12, 0, 0, 0)
		data = append(append(data, c.column...), 0)
		b, err := newColBlock(data, 0, c.kind)
		require.NoError(t, err, name)
		err = c.read(b)
		require.Equal(t, c.ok, err == nil, "%s: %v", name, err)
	}
}

func TestCheckRows(t *testing.T) {
	const set, del, obsoleteSet = 1, 0, 0x41
	row := func(kind byte, value string) []byte {
		w := rowblk.Writer{RestartInterval: 1}
		require.NoError(t, w.AddRaw([]byte{'k', kind, 0, 0, 0, 0, 0, 0, 0}, []byte(value)))
		return w.Finish()
	}
	for name, c := range map[string]struct {
		block    []byte
		prefixed bool
		ok       bool
	}{
		"deletion":                      {row(del, ""), true, true},
		"set of nothing":                {row(set, ""), false, true},
		"set without a prefix":          {row(set, ""), true, false},
		"obsolete set without a prefix": {row(obsoleteSet, ""), true, false},
		"set":                           {row(set, "\x00"), true, true},
		"set, value in a block":         {row(set, "\x80\x01"), true, true},
		"set, bad handle":               {row(set, "\x80\x80"), true, false},
		"set, no handle":                {row(set, "\x80"), true, false},
		"set, two kinds of value":       {row(set, "\xc0\x01"), true, false},
	} {
		err := checkRows(c.block, c.prefixed)
		require.Equal(t, c.ok, err == nil, "%s: %v", name, err)
	}
	w := rowblk.Writer{RestartInterval: 1}
	require.NoError(t, w.AddRaw(make([]byte, 7), nil))
	require.ErrorContains(t, checkRows(w.Finish(), false), "internal key")
}

func TestRowHandles(t *testing.T) {
	index := func(key, value string) []byte {
		w := rowblk.Writer{RestartInterval: 1}
		require.NoError(t, w.AddRaw([]byte(key), []byte(value)))
		return w.Finish()
	}
	handles, err := rowHandles(index("12345678", "\x80\x01\x02 and properties"))
	require.NoError(t, err)
	require.Equal(t, []block.Handle{{Offset: 128, Length: 2}}, handles)
	for _, block := range [][]byte{
		index("1234567", "\x80\x01\x02"), index("12345678", "\x80\x01"), index("12345678", "\x80"), index("12345678", ""),
		index("12345678", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01"), {},
	} {
		_, err := rowHandles(block)
		require.Error(t, err)
	}
}

// The length that a block announces for its longest key is what Pebble's reader allocates.
func TestCheckColumnsLongestKey(t *testing.T) {
	schema := colblk.DefaultKeySchema(pebblesst.DefaultComparer, 16)
	var w colblk.DataBlockEncoder
	w.Init(&schema)
	const length = 20
	key := pebblesst.InternalKey{UserKey: make([]byte, length)}
	w.Add(key, nil, 0, w.KeyWriter.ComparePrev(key.UserKey), false)
	data, _ := w.Finish(1, w.Size())
	for announced, ok := range map[uint32]bool{
		length - 1: false, length: true, length + 1: true, uint32(len(data)) + 1: true, maxKeyLen: true, maxKeyLen + 1: false, 1 << 31: false,
	} {
		binary.LittleEndian.PutUint32(data, announced)
		err := checkColumns(data)
		require.Equal(t, ok, err == nil, "%d: %v", announced, err)
	}
}

func TestUvarint32(t *testing.T) {
	for _, c := range []struct {
		b string
		v uint64
		n int
	}{
		{"", 0, 0}, {"\x80", 0, 0}, {"\x00", 0, 1}, {"\x7f\xff", 127, 1}, {"\x80\x01", 128, 2}, {"\x80\x80\x80\x80\x00", 0, 5},
		{"\xff\xff\xff\xff\x0f", math.MaxUint32, 5}, {"\xff\xff\xff\xff\x1f", 0, 0}, {"\x80\x80\x80\x80\x80\x00", 0, 0},
	} {
		v, n := uvarint32([]byte(c.b))
		require.Equal(t, c.v, v, "%x", c.b)
		require.Equal(t, c.n, n, "%x", c.b)
	}
}
