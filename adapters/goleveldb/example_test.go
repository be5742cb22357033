package goleveldb_test

import (
	"context"
	"errors"
	"expvar"
	"fmt"
	"log"
	"sync"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// A program puts a key only if it is absent. With several writers that takes a lock, from the
// lookup to the write.
func Example() {
	p, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	o := &opt.Options{BlockCacheCapacity: 64 << 20, OpenFilesCacheCapacity: 1000}
	// By default, lookups of absent keys make goleveldb compact tables.
	o.DisableSeeksCompaction = true
	if err := goleveldb.Configure(o, p); err != nil {
		log.Fatal(err)
	}
	db, err := leveldb.Open(storage.NewMemStorage(), o) // or OpenFile, with a directory
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	var mu sync.Mutex
	putIfAbsent := func(key, value []byte) (isNew bool, err error) {
		mu.Lock()
		defer mu.Unlock()
		if found, err := db.Has(key, nil); found || err != nil {
			return false, err
		}
		return true, db.Put(key, value, nil)
	}

	answers := make(chan bool)
	for range 10 {
		go func() {
			isNew, err := putIfAbsent([]byte("key"), []byte("value"))
			if err != nil {
				log.Fatal(err)
			}
			answers <- isNew
		}()
	}
	writers := map[bool]int{}
	for range 10 {
		writers[<-answers]++
	}
	fmt.Println(writers)
	// Output: map[false:9 true:1]
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

// A service adopts a database that has no filters: it gives them to the tables on disk while it
// runs. To end, it stops Rewrite and waits for it. The next start goes on from there.
func ExampleRewrite() {
	files, o := storage.NewMemStorage(), &opt.Options{DisableSeeksCompaction: true}
	db, err := leveldb.Open(files, o)
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(db.Put([]byte("one"), nil, nil), db.Put([]byte("two"), nil, nil),
		db.CompactRange(util.Range{}), db.Close()); err != nil {
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
	report, err := goleveldb.Check(o, db)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("warnings:", report.Warnings)
	ctx, stop := context.WithCancel(context.Background())
	rewritten := make(chan struct{})
	go func() {
		defer close(rewritten)
		if err := goleveldb.Rewrite(ctx, o, db, nil); err != nil && ctx.Err() == nil {
			log.Print(err)
		}
	}()
	closeDB := func() error {
		stop()
		<-rewritten
		return db.Close()
	}

	<-rewritten // for the output below: a service looks keys up meanwhile
	before := p.Counters().Absent
	if _, err := db.Has([]byte("ten"), nil); err != nil { // between the others
		log.Fatal(err)
	}
	fmt.Println("a filter answered absent:", p.Counters().Absent > before)
	if err := closeDB(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// warnings: []
	// a filter answered absent: true
}

// A service publishes what its filters answer. A key that is found in a table accounts for one
// answer "may contain". The others are false positives, or are about deleted keys.
func Example_expvar() {
	p, err := policy.NewRibbon(10, policy.WithCounters())
	if err != nil {
		log.Fatal(err)
	}
	metrics := new(expvar.Map) // expvar.NewMap("lookups") makes one and publishes it
	metrics.Set("filters", expvar.Func(func() any { return p.Counters() }))
	o := &opt.Options{DisableSeeksCompaction: true}
	if err := goleveldb.Configure(o, p); err != nil {
		log.Fatal(err)
	}
	db, err := leveldb.Open(storage.NewMemStorage(), o)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := errors.Join(db.Put([]byte("one"), nil, nil), db.Put([]byte("two"), nil, nil),
		db.CompactRange(util.Range{})); err != nil {
		log.Fatal(err)
	}

	for _, key := range []string{"one", "three", "two"} {
		found, err := db.Has([]byte(key), nil)
		if err != nil {
			log.Fatal(err)
		}
		metrics.Add(map[bool]string{false: "absent", true: "found"}[found], 1)
	}
	fmt.Println("lookups:", metrics.Get("absent"), "absent,", metrics.Get("found"), "found")
	fmt.Println("checks:", p.Counters().Absent, "absent,", p.Counters().MayContain, "may contain")
	// Output:
	// lookups: 1 absent, 2 found
	// checks: 1 absent, 2 may contain
}
