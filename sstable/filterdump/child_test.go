package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/stretchr/testify/require"
)

// pebbleTables returns tables of a database of Pebble's, which is open.
func pebbleTables(t *testing.T) []string {
	dir := pebbleDatabase(t, pebble.DefaultComparer, pebble.FormatMinSupported)
	paths, err := filepath.Glob(filepath.Join(dir, "*.sst"))
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
	status, out, _ := filterdump(t, "-verify", forged, paths[1])
	require.Equal(t, exitFault, status, out)
	out = strings.Join(strings.Fields(out), " ") // lines are wrapped
	require.Contains(t, out, "1 table corrupt; 1 table sound")
	require.Contains(t, out,
		"Pebble's reader crashed: panic: runtime error: slice bounds out of range")

	_, out, _ = filterdump(t, "-key", "key000001@000", forged)
	require.Contains(t, out, "crashed: panic: ")
}

// An interrupted program ends its children.
func TestChildIsEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	path := pebbleTables(t)[0]
	for ctx.Err() == nil {
		lookSafely(ctx, path, settings{})
	}
	require.Equal(t, Unreadable, lookSafely(ctx, path, settings{}).Status)
}

// A child that takes too long is ended, and its table is not called sound.
func TestChildTakesTooLong(t *testing.T) {
	defer func(limit time.Duration) { childTime = limit }(childTime)
	childTime = time.Nanosecond
	r := lookSafely(context.Background(), pebbleTables(t)[0], settings{})
	require.Equal(t, Corrupt, r.Status)
	require.Equal(t, "Pebble's reader took longer than 1ns", r.Reason)
}
