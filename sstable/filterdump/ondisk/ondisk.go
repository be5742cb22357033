// Package ondisk tells what filters are worth to a database on disk, of goleveldb, C++ LevelDB or
// Pebble v1 or v2. It reads the manifest and the tables, and consults the filters that are there
// about absent keys. It opens no database, takes no lock and changes no file, so the database may
// be in use, or left by a process that was killed.
//
// [Count] returns the verdict that command filterdump prints. [Keys] reads the keys of a database.
//
// # Child processes
//
// Bytes that were forged can crash Pebble's reader, so child processes read Pebble's tables. A
// child is the program itself, started with a variable in its environment that this package's
// initialization looks for: it then reads a table for its parent, and never comes to main.
package ondisk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/census"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/sstable/filterdump/verdict"
)

// Count counts what lookups of absent keys read in the database in dir, and returns the verdict. It
// reads all tables: a second or two for a million keys on two processors. bloom names
// further policies whose filters package policy reads.
//
// The tables that the manifest names count; what is only in the database's log does not. Where
// nothing can be said, the verdict says why. The error is that of ctx. The same files give the same
// verdict.
func Count(ctx context.Context, dir string, bloom ...string) (*verdict.Verdict, error) {
	r := scan.Reader{Bloom: bloom}
	d, err := census.Read(ctx, r, dir)
	if err == nil {
		err = d.Count(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	return d.Verdict, nil
}

// IsTable reports whether a file is a table, judging by its name or its last bytes.
func IsTable(path string) bool {
	_, err := tables.NeedsPebble(path)
	return err == nil || tables.HasName(path)
}

// Keys calls f for the keys of a table, or of all tables of the database in a directory: with the
// part of the key that filters know. The keys of a table come in file order, a key with several
// versions in a table once, and tables in a random order that is always the same. No more than the
// first 128 MiB of a table's keys come. The key's memory is the caller's. An error of f ends the
// iteration and is returned unchanged.
//
// In a directory, tables that are no part of the database do not count: those that its manifest
// does not name, that are unfinished, or that the database deletes meanwhile. leftOut is their
// number. Other errors say what is wrong with a table, or why nobody can know what its filters know
// of a key.
func Keys(ctx context.Context, path string, f func(key []byte) error) (leftOut int, err error) {
	paths, isDatabase := []string{path}, false
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		s, all, err := tables.Of(path)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		if s != nil {
			leftOut = len(s.Unnamed)
		}
		paths, isDatabase = all, true
		rng := rand.New(rand.NewPCG(1, 2))
		rng.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	}
	for _, path := range paths {
		table := scan.Reader{}.Read(ctx, path, &scan.Question{Keys: true})
		switch {
		case ctx.Err() != nil:
			return leftOut, ctx.Err()
		case table.Status != "":
			_, err := os.Stat(path)
			gone := errors.Is(err, fs.ErrNotExist) || table.Status == scan.Unfinished
			if !isDatabase || !gone {
				return leftOut, fmt.Errorf("%s: %s", path, table.Reason)
			}
			leftOut++
		}
		for _, key := range table.Answer.Keys {
			if err := f(key); err != nil {
				return leftOut, err
			}
		}
	}
	return leftOut, nil
}
