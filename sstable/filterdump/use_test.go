package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// A store is an open database.
type store struct {
	put          func(key, value []byte) error
	has          func(key []byte) (bool, error)
	flush, close func() error
	compact      func() error
	rewrite      func(ctx context.Context) error // by the adapter
}

// An opening says how a database is opened.
type opening int

const (
	busy     opening = iota // it compacts
	still                   // it compacts nothing
	readOnly                // by lookups through the adapter
)

// openers open a database in dir that writes filters of p, or none if p is nil.
var openers = map[string]func(dir string, p *policy.Policy, how opening) (store, error){
	"goleveldb": func(dir string, p *policy.Policy, how opening) (s store, err error) {
		o := &opt.Options{WriteBuffer: 64 << 10, CompactionTableSize: 64 << 10,
			ReadOnly: how == readOnly}
		if how != busy {
			o.CompactionL0Trigger, o.WriteL0SlowdownTrigger = 1000, 1000
			o.WriteL0PauseTrigger = 1000
		}
		if p != nil {
			if err := goleveldb.Configure(o, p); err != nil {
				return s, err
			}
		}
		db, err := leveldb.OpenFile(dir, o)
		if err != nil {
			return s, err
		}
		s.put = func(key, value []byte) error { return db.Put(key, value, nil) }
		s.has = func(key []byte) (bool, error) { return db.Has(key, nil) }
		s.flush = func() error { // a transaction needs all in memory to be in tables
			tr, err := db.OpenTransaction()
			if err != nil {
				return err
			}
			return tr.Commit()
		}
		s.close = db.Close
		s.compact = func() error { return db.CompactRange(util.Range{}) }
		s.rewrite = func(ctx context.Context) error { return goleveldb.Rewrite(ctx, o, db, nil) }
		return s, nil
	},
	"pebblev1": openPebbleV1,
	"pebblev2": openPebbleV2,
}

// write puts keys in an order that is not theirs, until ctx ends.
func (s store) write(ctx context.Context, from, to int) (err error) {
	value := make([]byte, 100)
	for i := from; i < to && err == nil && ctx.Err() == nil; i++ {
		err = s.put(fmt.Appendf(nil, "key%09d", i*7919%100_003), value)
	}
	return err
}

// snapshot returns the names, times and contents of all files in a directory.
func snapshot(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		var b []byte
		if info.Mode().IsRegular() { // to read a pipe would wait
			b, err = os.ReadFile(filepath.Join(dir, e.Name()))
			require.NoError(t, err)
		}
		files[e.Name()] = fmt.Sprintf("%v %v %x", info.ModTime(), info.Mode(), sha256.Sum256(b))
	}
	return files
}

// A database whose filters have changed has tables of both kinds. It stays as it is. While it then
// writes and compacts, tables come and go: none of that is a fault, and no lock is in the way.
func TestDatabases(t *testing.T) {
	for engine, open := range openers {
		t.Run(engine, func(t *testing.T) {
			dir, policies := t.TempDir(), []*policy.Policy{testkit.Must(policy.NewBloom(10)),
				testkit.Must(policy.NewRibbon(10))}
			for i, p := range policies {
				s, err := open(dir, p, still)
				require.NoError(t, err)
				require.NoError(t, s.write(context.Background(), i*4000, i*4000+4000))
				require.NoError(t, s.flush())
				require.NoError(t, s.close())
			}
			before := snapshot(t, dir)
			status, out, stderr := filterdump(t, dir)
			require.Zero(t, status, out+stderr)
			require.Equal(t, before, snapshot(t, dir))
			require.Contains(t, out, "ribbon")
			require.Contains(t, out, "bloom")
			for _, line := range strings.Split(out, "\n") {
				fits := utf8.RuneCountInString(line) <= width
				require.True(t, fits || strings.Contains(line, dir), "a line is too wide: %s", line)
			}

			s, err := open(dir, policies[0], busy)
			require.NoError(t, err)
			ctx, stop := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- s.write(ctx, 8000, math.MaxInt) }()
			defer func() {
				stop()
				require.NoError(t, <-done)
				require.NoError(t, s.close())
			}()
			for _, args := range [][]string{{dir}, {dir, "--verify"}} {
				status, out, stderr := filterdump(t, args...)
				require.Zero(t, status, out+stderr)
			}
		})
	}
}

// Nothing from the disk reaches a terminal that this could take for a command, or for a line of the
// report.
func TestTerminalSequences(t *testing.T) {
	const sequence = "\x1b[2J\nsound\x9b\u009b\u202e"
	dir := filepath.Join(t.TempDir(), "dir"+sequence)
	require.NoError(t, os.CopyFS(dir, os.DirFS(golden("leveldb", "tables", "custom_policy"))))
	broken := filepath.Join(dir, "broken"+sequence+".ldb")
	require.NoError(t, os.WriteFile(broken, []byte("none"), 0o600))
	for _, args := range [][]string{
		{dir, dir}, {broken}, {"--x" + sequence, dir},
		{dir + "none"}, {"--json", dir},
	} {
		_, out, stderr := filterdump(t, args...)
		require.Regexp(t, `\\(x|u00)1b`, out+stderr, "%q", args)
		require.NotRegexp(t, `[\x00-\x09\x0b-\x1f\x7f-\x{9f}\x{202e}]|(?m)^(sound|dir)`, out+stderr,
			"%q", args)
	}
}
