package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

// smallTable returns a table of plain keys that goleveldb wrote, with several filters, and where
// its blocks are.
func smallTable(t *testing.T, p policy.Policy) (file []byte, blocks []sstable.BlockHandle) {
	return plainTable(t, p, 16, 9)
}

func plainTable(
	t *testing.T,
	p policy.Policy,
	keys, baseLg int,
) (file []byte, blocks []sstable.BlockHandle) {
	var b bytes.Buffer
	w := table.NewWriter(
		&b,
		&opt.Options{
			Filter:       goleveldb.New(p),
			BlockSize:    256,
			FilterBaseLg: baseLg,
			Compression:  opt.NoCompression,
		},
		nil,
		0,
	)
	for i := range keys {
		require.NoError(t, w.Append([]byte(fmt.Sprintf("key%05d", i*17)),
			bytes.Repeat([]byte{byte(i)}, 100)))
	}
	require.NoError(t, w.Close())
	file = b.Bytes()

	opened, err := sstable.OpenTable(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	for i := range opened.Blocks() {
		blocks = append(blocks, opened.Block(i))
	}
	blocks = append(blocks, opened.Filters()[0].Handle)
	footer := file[len(file)-48:]
	for range 2 {
		offset, n := binary.Uvarint(footer)
		length, m := binary.Uvarint(footer[n:])
		blocks, footer = append(blocks, sstable.BlockHandle{Offset: offset, Length: length}),
			footer[n+m:]
	}
	return file, blocks
}

// mendChecksum makes the checksum of the block that holds a byte right again.
func mendChecksum(file []byte, blocks []sstable.BlockHandle, at uint64) {
	for _, h := range blocks {
		if end := h.Offset + h.Length + 1; h.Offset <= at && at < end {
			crc := crc32.Checksum(file[h.Offset:end], crc32.MakeTable(crc32.Castagnoli))
			binary.LittleEndian.PutUint32(file[end:], (crc>>15|crc<<17)+0xa282ead8)
		}
	}
}

// damageStep returns the distance of the bytes that are changed.
func damageStep() int {
	if testing.Short() {
		return 11
	}
	return 1
}

// Whatever one byte of a table is changed to: it is called corrupt, or all its keys match, or keys
// that do not are reported. With the checksums as they are the last does not happen.
func TestDamage(t *testing.T) {
	intact, blocks := smallTable(t, mustExact(t))
	path := filepath.Join(t.TempDir(), "000001.ldb")
	check := func(file []byte) *Result {
		require.NoError(t, os.WriteFile(path, file, 0o600))
		return look(context.Background(), path, settings{})
	}
	r := check(intact)
	require.Equal(t, Sound, r.Status, r.Reason)
	require.EqualValues(t, 16, r.Entries)
	require.Equal(t, 4, r.Filters)

	filter := blocks[len(blocks)-3]
	outcomes := map[bool]map[Status]int{false: {}, true: {}}
	for i := 0; i < len(intact); i += damageStep() {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			for _, mended := range []bool{false, true} {
				file := bytes.Clone(intact)
				file[i] ^= flip
				if mended {
					mendChecksum(file, blocks, uint64(i))
				}
				r := check(file)
				outcomes[mended][r.Status]++
				switch r.Status {
				case Corrupt:
					require.NotEmpty(t, r.Reason)
				case Sound:
					require.EqualValues(t, 16, r.Entries, "byte %d ^ %#x", i, flip)
				case FalseNegative:
					require.True(t, mended, "byte %d ^ %#x", i, flip)
					require.NotEmpty(t, r.Lost)
				case Unsupported: // the byte that tells the compression
					require.True(t, mended, "byte %d ^ %#x", i, flip)
				case NoFilter: // the filter's name in the metaindex no longer begins with "filter."
					require.True(t, mended, "byte %d ^ %#x", i, flip)
				case Unverified: // the last byte of a filter, or the policy's name
					require.True(t, mended, "byte %d ^ %#x", i, flip)
					require.Regexp(t, "unknown encoding|is not known here", r.Reason,
						"byte %d ^ %#x", i, flip)
				default:
					t.Fatalf("byte %d ^ %#x: %s %s", i, flip, r.Status, r.Reason)
				}
				inFilters := filter.Offset <= uint64(i) && uint64(i) < filter.Offset+filter.Length
				if mended && r.Status == FalseNegative && !inFilters {
					require.Less(t, uint64(i), filter.Offset,
						"a key that was changed; byte %d ^ %#x", i, flip)
				}
			}
		}
	}
	t.Logf("as it is: %v; with its checksum mended: %v", outcomes[false], outcomes[true])
	require.Len(t, outcomes[false], 2)
	require.Positive(t, outcomes[false][Sound], "the footer's padding does not matter")
	if damageStep() == 1 {
		require.Equal(t, 2*len(blocks), outcomes[true][Unsupported],
			"0x80 and 0xff are no compression of LevelDB's; 1 is snappy")
	}
	require.Positive(t, outcomes[true][FalseNegative], "a bit that is cleared in a filter is seen")

	for n := 0; n < len(intact); n += damageStep() {
		r := check(intact[:n])
		require.Equal(t, Corrupt, r.Status, "cut after %d bytes", n)
	}
}

// A damaged ribbon filter under a right checksum matches all keys and says so, or the keys that it
// lost are reported.
func TestDamagedRibbonFilters(t *testing.T) {
	p, err := policy.NewRibbon(10)
	require.NoError(t, err)
	intact, blocks := plainTable(t, p, 64, 11)
	path := filepath.Join(t.TempDir(), "000001.ldb")
	filter := blocks[len(blocks)-3]
	outcomes := map[Status]int{}
	for bit := range 8 * filter.Length {
		i := filter.Offset + bit/8
		file := bytes.Clone(intact)
		file[i] ^= 1 << (bit % 8)
		mendChecksum(file, blocks, i)
		require.NoError(t, os.WriteFile(path, file, 0o600))
		r := look(context.Background(), path, settings{})
		outcomes[r.Status]++
		switch r.Status {
		case Unverified:
			require.Contains(t, r.Reason, "every key may be contained")
		case FalseNegative:
			require.NotEmpty(t, r.Lost)
		case Sound, Corrupt: // such as a bit that is set more, and an offset
		default:
			t.Fatalf("bit %d: %s %s", bit, r.Status, r.Reason)
		}
	}
	require.Greater(t, outcomes[Unverified], 2*4*8, "the last bytes of four filters, and more")
	require.Positive(t, outcomes[FalseNegative])
	require.Positive(t, outcomes[Sound])
}
