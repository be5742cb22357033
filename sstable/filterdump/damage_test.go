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
	"time"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
)

// lookAt looks at a table.
func lookAt(t testing.TB, path string) *scan.Result {
	r := scan.NewReader()
	defer r.Close()
	return r.Read(context.Background(), path, &scan.Question{Verify: true})
}

// plainTable returns a table of plain keys that goleveldb wrote, with filters for windows of
// 2^baseLg bytes, and where its blocks are.
func plainTable(
	t *testing.T, p policy.Policy, keys, baseLg int,
) (file []byte, blocks []sstable.BlockHandle) {
	var b bytes.Buffer
	w := table.NewWriter(&b, &opt.Options{
		Filter: goleveldb.New(p), BlockSize: 256, FilterBaseLg: baseLg,
		Compression: opt.NoCompression,
	}, nil, 0)
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

// Whatever a byte of a table is changed to: it is called corrupt, or all its keys match, or those
// that do not are reported. With the checksums as they are the last does not happen.
func TestDamage(t *testing.T) {
	step := uint64(1)
	if testing.Short() {
		step = 11
	}
	path := filepath.Join(t.TempDir(), "000001.ldb")
	for _, c := range []struct {
		policy       policy.Policy
		keys, baseLg int
	}{{mustExact(), 16, 9}, {mustRibbon(), 64, 11}} {
		intact, blocks := plainTable(t, c.policy, c.keys, c.baseLg)
		outcomes := map[bool]map[scan.Status]int{false: {}, true: {}}
		check := func(at uint64, flip byte, mended bool) {
			file := bytes.Clone(intact)
			file[at] ^= flip
			if mended {
				mendChecksum(file, blocks, at)
			}
			require.NoError(t, os.WriteFile(path, file, 0o600))
			old := time.Now().Add(-time.Minute) // or a file without an end is unfinished
			require.NoError(t, os.Chtimes(path, old, old))
			r := lookAt(t, path)
			new(textWriter).tables([]*scan.Result{r}) // any text, but no panic
			outcomes[mended][r.Status]++
			what := fmt.Sprintf("byte %d ^ %#x: %s %s", at, flip, r.Status, r.Reason)
			switch r.Status {
			case scan.Corrupt:
				require.NotEmpty(t, r.Reason, what)
			case scan.Sound:
				require.EqualValues(t, c.keys, r.Entries, what)
			case scan.FalseNegative:
				require.True(t, mended && len(r.Lost) > 0, what)
			case scan.Unsupported: // the byte that tells the compression
			case scan.NoFilter: // the filter's name in the metaindex no longer begins with "filter."
			case scan.Unverified: // the last bytes of a filter, or the policy's name
				require.Regexp(t, "may be contained|is not known here", r.Reason, what)
			default:
				t.Fatal(what)
			}
		}
		begin := blocks[0].Offset
		if c.keys > 16 { // data blocks are not different
			begin = blocks[len(blocks)-3].Offset
		}
		for at := begin; at < uint64(len(intact)); at += step {
			for _, flip := range []byte{0x01, 0x80, 0xff} {
				check(at, flip, false)
				check(at, flip, true)
			}
		}
		t.Logf("as it is: %v; with its checksum mended: %v", outcomes[false], outcomes[true])
		require.Len(t, outcomes[false], 2)
		require.Positive(t, outcomes[false][scan.Sound], "the footer's padding does not matter")
		for _, status := range []scan.Status{scan.Sound, scan.FalseNegative, scan.Unverified} {
			require.Positive(t, outcomes[true][status], status)
		}
		if step == 1 && begin == 0 {
			require.Equal(t, 2*len(blocks), outcomes[true][scan.Unsupported],
				"0x80 and 0xff are no compression of LevelDB's; 1 is snappy")
		}
	}
}
