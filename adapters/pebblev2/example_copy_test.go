package pebblev2_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// A program copies a database into a new one, in which all tables have filters. Renaming the two
// directories is left to it.
func ExampleConfigure_copy() {
	o := &pebble.Options{FS: vfs.NewMem()}
	db, err := pebble.Open("former", o)
	if err != nil {
		log.Fatal(err)
	}
	const keys = 100_000
	for i := range keys {
		if err := db.Set(fmt.Append(nil, i), []byte("value"), pebble.NoSync); err != nil {
			log.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}

	p, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	if err := pebblev2.Configure(o, p); err != nil {
		log.Fatal(err)
	}
	if err := copyDatabase("former", "copied", o); err != nil {
		log.Fatal(err)
	}
	if db, err = pebble.Open("copied", o); err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for i := range keys {
		if found, err := pebblev2.Has(db, fmt.Append(nil, i)); err != nil || !found {
			log.Fatal(i, err)
		}
	}
	report, err := pebblev2.CheckCache(o, db)
	if err != nil {
		log.Fatal(err)
	}
	without := report.Tables
	for _, level := range report.Levels {
		without -= level.ByName[p.Name()]
	}
	fmt.Println("keys found:", keys)
	fmt.Println("tables without new filters:", without)
	// Output:
	// keys found: 100000
	// tables without new filters: 0
}

// copyDatabase copies the entries of a database, which is not open, into a new one. Both have the
// options that Configure was called on.
func copyDatabase(from, to string, o *pebble.Options) error {
	readOnly, create := o.Clone(), o.Clone()
	readOnly.ReadOnly = true
	create.ErrorIfExists = true
	create.DisableWAL = true // copyEntries calls Flush
	source, err := pebble.Open(from, readOnly)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := pebble.Open(to, create)
	if err != nil {
		return err
	}
	return errors.Join(copyEntries(source, target), target.Close())
}

// copyEntries copies all entries in their order, but not what DB.RangeKeySet wrote. Once it returns
// nil, they are on disk.
func copyEntries(source, target *pebble.DB) error {
	entries, err := source.NewIter(nil)
	if err != nil {
		return err
	}
	defer entries.Close()
	batch := target.NewBatch()
	defer batch.Close()
	for entries.First(); entries.Valid(); entries.Next() {
		value, err := entries.ValueAndErr()
		if err != nil {
			return err
		}
		if err := batch.Set(entries.Key(), value, nil); err != nil { // copies both
			return err
		}
		if batch.Len() >= 1<<20 {
			if err := batch.Commit(pebble.NoSync); err != nil {
				return err
			}
			batch.Reset()
		}
	}
	if err := errors.Join(entries.Error(), batch.Commit(pebble.NoSync)); err != nil {
		return err
	}
	return target.Flush()
}
