package goleveldb_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// Has tells whether a key is new before it is written. Of several writers, each must hold a lock.
func Example() {
	dir, err := os.MkdirTemp("", "levelbloom-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	p, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	o := &opt.Options{
		OpenFilesCacheCapacity: 1000,
		BlockCacheCapacity:     64 << 20,
	}
	// By default, lookups of absent keys make goleveldb compact tables.
	o.DisableSeeksCompaction = true
	if err := goleveldb.Configure(o, p); err != nil {
		log.Fatal(err)
	}
	db, err := leveldb.OpenFile(dir, o)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	for _, key := range []string{"one", "two", "one"} {
		found, err := db.Has([]byte(key), nil)
		if err != nil {
			log.Fatal(err)
		}
		if found {
			fmt.Println(key, "is there already")
			continue
		}
		if err := db.Put([]byte(key), []byte("value"), nil); err != nil {
			log.Fatal(err)
		}
	}
	value, err := db.Get([]byte("two"), nil)
	fmt.Printf("%s %v\n", value, err)
	// Output:
	// one is there already
	// value <nil>
}

// The lines to add to a program that has set all options, before it calls leveldb.OpenFile.
func ExampleConfigure() {
	o := &opt.Options{Filter: filter.NewBloomFilter(10)}

	filterPolicy, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	o.DisableSeeksCompaction = true
	if err := goleveldb.Configure(o, filterPolicy); err != nil {
		log.Fatal(err)
	}

	fmt.Println("new tables:", o.Filter.Name())
	for _, f := range o.AltFilters {
		fmt.Println("also read:", f.Name())
	}
	// Output:
	// new tables: leveldb.BuiltinBloomFilter2
	// also read: leveldb.BuiltinBloomFilter
}

// By default, lookups of absent keys make goleveldb compact tables.
func ExampleCheck() {
	p, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	o := &opt.Options{}
	if err := goleveldb.Configure(o, p); err != nil {
		log.Fatal(err)
	}
	db, err := leveldb.Open(storage.NewMemStorage(), o)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	report, err := goleveldb.Check(o, db)
	if err != nil {
		log.Fatal(err)
	}
	for _, warning := range report.Warnings {
		fmt.Println(warning)
	}
	// Output: lookups start compactions: set Options.DisableSeeksCompaction
}

// A program gives filters to the tables of a database that has none, while it uses the database.
func ExampleRewrite() {
	files, o := storage.NewMemStorage(), &opt.Options{DisableSeeksCompaction: true}
	db, err := leveldb.Open(files, o)
	if err != nil {
		log.Fatal(err)
	}
	for _, key := range []string{"one", "two"} {
		if err := db.Put([]byte(key), nil, nil); err != nil {
			log.Fatal(err)
		}
	}
	if err := errors.Join(db.CompactRange(util.Range{}), db.Close()); err != nil {
		log.Fatal(err)
	}

	p, err := policy.NewRibbon(10, policy.WithCounters())
	if err != nil {
		log.Fatal(err)
	}
	if err := goleveldb.Configure(o, p); err != nil {
		log.Fatal(err)
	}
	if db, err = leveldb.Open(files, o); err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := goleveldb.Rewrite(context.Background(), o, db, nil); err != nil {
		log.Fatal(err)
	}

	before := p.Counters().Absent
	if _, err := db.Has([]byte("ten"), nil); err != nil { // between the others
		log.Fatal(err)
	}
	fmt.Println("a filter answered absent:", p.Counters().Absent > before)
	// Output: a filter answered absent: true
}
