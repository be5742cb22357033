// Package tablekeys reads the keys in the tables of LevelDB, goleveldb, Pebble and RocksDB as their
// filters know them. It opens no database, changes no file, and a database may be in use.
package tablekeys

import (
	"fmt"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// IsTable reports whether a file is a table by its name or its last bytes.
func IsTable(path string) bool {
	_, err := tables.FormatOf(path)
	return err == nil || tables.HasName(path)
}

// Find returns the paths of the tables in a database's directory, sorted. Without any, the error
// says what is there instead.
func Find(dir string) ([]string, error) {
	d, err := tables.Find(dir)
	if err == nil && len(d.Tables) == 0 {
		why, _ := d.NoTables()
		err = fmt.Errorf("%s: %s", dir, why)
	}
	return d.Tables, err
}

// Read calls f for each point entry of a table in file order, with the part of the key that filters
// know. A key with several versions comes several times. The key's memory is reused after f
// returns. An error of f ends the iteration and is returned as it is.
//
// The error wraps [os.ErrNotExist] if the table is gone, as that of a database in use may be. Other
// errors say what is wrong with it, or why nobody can know what its filters know of a key.
func Read(path string, f func(key []byte) error) (err error) {
	defer func() {
		if p := recover(); p != nil { // Pebble's reader trusts bytes whose checksum is right
			err = fmt.Errorf("%s: Pebble's reader fails on its bytes: %v", path, p)
		}
	}()
	t, err := tables.Open(path, tables.Options{})
	if err != nil {
		return err
	}
	defer t.Close()
	if why := t.Info().Unverified; why != "" {
		return fmt.Errorf("%s: %s", path, why)
	}
	return t.Keys(func(_ int, key []byte) error { return f(key) })
}
