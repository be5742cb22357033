package goleveldb_test

import (
	"fmt"
	"log"
	"os"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

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

	if err := db.Put([]byte("hello"), []byte("world"), nil); err != nil {
		log.Fatal(err)
	}
	value, err := db.Get([]byte("hello"), nil)
	fmt.Printf("%s %v\n", value, err)
	_, err = db.Get([]byte("good night"), nil)
	fmt.Println(err)
	// Output:
	// world <nil>
	// leveldb: not found
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
