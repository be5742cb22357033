package goleveldb_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

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

// Has tells whether a key is new before it is written. Of several writers, each must hold a lock.
func Example_putIfAbsent() {
	p, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	o := &opt.Options{DisableSeeksCompaction: true}
	if err := goleveldb.Configure(o, p); err != nil {
		log.Fatal(err)
	}
	db, err := leveldb.Open(storage.NewMemStorage(), o)
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
		if err := db.Put([]byte(key), nil, nil); err != nil {
			log.Fatal(err)
		}
	}
	// Output: one is there already
}

// By default, lookups of absent keys make goleveldb compact tables.
func ExampleCheckCache() {
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

	report, err := goleveldb.CheckCache(o, db) // print it: it says what to set
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("all tables stay open:", report.Tables <= report.OpenFiles)
	fmt.Println("lookups start compactions:", report.SeekCompactions)
	// Output:
	// all tables stay open: true
	// lookups start compactions: true
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

// A program publishes the counters of its policy in the text format of Prometheus, with a label for
// the database. The example of this name in package pebblev2 uses Prometheus's client.
func Example_prometheus() {
	p, err := policy.NewRibbon(10, policy.WithCounters())
	if err != nil {
		log.Fatal(err)
	}
	metrics := func(w http.ResponseWriter, _ *http.Request) {
		c := p.Counters()
		fmt.Fprintf(w, "# TYPE filter_absent_total counter\n")
		fmt.Fprintf(w, "filter_absent_total{db=\"state\"} %d\n", c.Absent)
		fmt.Fprintf(w, "# TYPE filter_may_contain_total counter\n")
		fmt.Fprintf(w, "filter_may_contain_total{db=\"state\"} %d\n", c.MayContain)
	}
	http.HandleFunc("/metrics", metrics)

	o := &opt.Options{DisableSeeksCompaction: true}
	if err := goleveldb.Configure(o, p); err != nil {
		log.Fatal(err)
	}
	db, err := leveldb.Open(storage.NewMemStorage(), o)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for _, key := range []string{"one", "two"} {
		if err := db.Put([]byte(key), nil, nil); err != nil {
			log.Fatal(err)
		}
	}
	if err := db.CompactRange(util.Range{}); err != nil { // writes a table
		log.Fatal(err)
	}
	for _, key := range []string{"one", "ten"} {
		if _, err := db.Has([]byte(key), nil); err != nil {
			log.Fatal(err)
		}
	}

	scrape := httptest.NewRecorder()
	http.DefaultServeMux.ServeHTTP(scrape, httptest.NewRequest("GET", "/metrics", nil))
	fmt.Print(scrape.Body)
	// Output:
	// # TYPE filter_absent_total counter
	// filter_absent_total{db="state"} 1
	// # TYPE filter_may_contain_total counter
	// filter_may_contain_total{db="state"} 1
}
