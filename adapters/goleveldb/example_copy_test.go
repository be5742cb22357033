package goleveldb_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// A program copies a database into a new one, in which all tables have filters. Renaming the two
// directories is left to it.
func ExampleConfigure_copy() {
	dir, err := os.MkdirTemp("", "levelbloom-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	former, copied := filepath.Join(dir, "former"), filepath.Join(dir, "copied")
	o := &opt.Options{WriteBuffer: 1 << 20}
	db, err := leveldb.OpenFile(former, o)
	if err != nil {
		log.Fatal(err)
	}
	const keys = 100_000
	for i := range keys {
		if err := db.Put(fmt.Append(nil, i), []byte("value"), nil); err != nil {
			log.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}

	p, err := policy.NewRibbon(10, policy.WithCounters())
	if err != nil {
		log.Fatal(err)
	}
	o.DisableSeeksCompaction = true
	if err := goleveldb.Configure(o, p); err != nil {
		log.Fatal(err)
	}
	if err := copyDatabase(former, copied, o); err != nil {
		log.Fatal(err)
	}
	if db, err = leveldb.OpenFile(copied, o); err != nil { // writes the log to tables
		log.Fatal(err)
	}
	defer db.Close()
	for i := range keys {
		if _, err := db.Get(fmt.Append(nil, i), nil); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("keys found:", keys)
	fmt.Println("in tables with new filters:", p.Counters().MayContain)
	// Output:
	// keys found: 100000
	// in tables with new filters: 100000
}

// copyDatabase copies the entries of a database, which is not open, into a new one. Both have the
// options that Configure was called on.
func copyDatabase(from, to string, o *opt.Options) error {
	readOnly, create := *o, *o
	readOnly.ReadOnly = true
	create.ErrorIfExist = true
	create.DisableLargeBatchTransaction = true // transactions have faults
	source, err := leveldb.OpenFile(from, &readOnly)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := leveldb.OpenFile(to, &create)
	if err != nil {
		return err
	}
	return errors.Join(copyEntries(source, target), target.Close())
}

// copyEntries copies all entries in their order. Once it returns nil, they are on disk.
func copyEntries(source, target *leveldb.DB) error {
	entries := source.NewIterator(nil, nil)
	defer entries.Release()
	var batch leveldb.Batch
	sync := &opt.WriteOptions{Sync: true} // Close would not sync the log
	for entries.Next() {
		batch.Put(entries.Key(), entries.Value())
		if len(batch.Dump()) >= 1<<20 {
			if err := target.Write(&batch, sync); err != nil {
				return err
			}
			batch.Reset()
		}
	}
	if err := entries.Error(); err != nil {
		return err
	}
	return target.Write(&batch, sync)
}
