package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// pebbleTables returns two tables whose footers have no checksums.
func pebbleTables(t *testing.T) []string {
	dir := t.TempDir()
	writers["Pebble v1"](t, dir, mustExact(), 1, 1000)
	writers["Pebble v1"](t, dir, mustExact(), 1000, 2000)
	paths, err := tables.Find(dir)
	require.NoError(t, err)
	return paths
}

// A forged table that crashes Pebble's reader is corrupt, and the other tables are looked at.
func TestCrash(t *testing.T) {
	paths := pebbleTables(t)
	table, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	footer := table[len(table)-pebblesst.TableFormatRocksDBv2.FooterSize():]
	for j := range 11 { // the handle of the metaindex
		footer[1+j] = 0xff
	}
	forged := filepath.Join(t.TempDir(), "000001.sst")
	require.NoError(t, os.WriteFile(forged, table, 0o600))
	status, out, _ := filterdump(t, "--verify", forged, paths[1])
	require.Equal(t, exitFault, status, out)
	out = strings.Join(strings.Fields(out), " ") // lines are wrapped
	require.Contains(t, out, "1 table corrupt; 1 table sound")
	require.Contains(t, out,
		"Pebble's reader crashed: panic: runtime error: slice bounds out of range")
}

// Any bytes anywhere in a table of Pebble's, with the checksums of its blocks put right or not:
// reading it ends, with a status.
func FuzzPebble(f *testing.F) {
	var originals [][]byte
	var blocks [][]sstable.BlockHandle
	for _, version := range []string{"Pebble v1", "Pebble v2"} { // with rows, with columns
		dir := f.TempDir()
		writers[version](f, dir, mustExact(), 1, 50)
		paths, err := tables.Find(dir)
		require.NoError(f, err)
		table, err := os.ReadFile(paths[0])
		require.NoError(f, err)
		originals, blocks = append(originals, table), append(blocks, pebbleBlocks(f, paths[0]))
		for at := 0; at < len(table); at += 37 {
			f.Add(len(originals) == 2, uint16(at), []byte{0xff, 0, 1}, true)
		}
		for _, h := range blocks[len(blocks)-1] { // such as a hash index, which makes wild pointers
			f.Add(len(originals) == 2, uint16(h.Offset+h.Length-1), []byte{0x80}, true)
		}
	}
	path := filepath.Join(f.TempDir(), "000001.sst")
	f.Fuzz(func(t *testing.T, columns bool, at uint16, data []byte, mend bool) {
		which := map[bool]int{true: 1}[columns]
		table := bytes.Clone(originals[which])
		begin := int(at) % len(table)
		for i := range copy(table[begin:], data) {
			if mend {
				mendChecksum(table, blocks[which], uint64(begin+i))
			}
		}
		require.NoError(t, os.WriteFile(path, table, 0o600))
		r := lookAt(t, path)
		require.Contains(t, []scan.Status{scan.Sound, scan.NoFilter, scan.Unverified,
			scan.FalseNegative, scan.Corrupt, scan.Unsupported},
			r.Status, r.Reason)
	})
}

// pebbleBlocks returns where the blocks are that are read for the keys and the filter.
func pebbleBlocks(t testing.TB, path string) (blocks []sstable.BlockHandle) {
	file, err := vfs.Default.Open(path)
	require.NoError(t, err)
	readable, err := pebblesst.NewSimpleReadable(file)
	require.NoError(t, err)
	r, err := pebblesst.NewReader(context.Background(), readable, pebblesst.ReaderOptions{})
	require.NoError(t, err)
	defer r.Close()
	layout, err := r.Layout()
	require.NoError(t, err)
	for _, h := range append(layout.Index, layout.Data[0].Handle, layout.Filter[0].Handle,
		layout.Properties, layout.MetaIndex) {
		blocks = append(blocks, sstable.BlockHandle{Offset: h.Offset, Length: h.Length})
	}
	return blocks
}
