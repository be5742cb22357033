package pebblev2_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
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
	o := &pebble.Options{Cache: pebble.NewCache(64 << 20)}
	defer o.Cache.Unref()
	if err := pebblev2.Configure(o, p); err != nil {
		log.Fatal(err)
	}
	db, err := pebble.Open(dir, o)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	if err := db.Set([]byte("hello"), []byte("world"), pebble.Sync); err != nil {
		log.Fatal(err)
	}
	value, closer, err := db.Get([]byte("hello"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", value)
	if err := closer.Close(); err != nil {
		log.Fatal(err)
	}
	found, err := pebblev2.Has(db, []byte("good night"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found)
	// Output:
	// world
	// false
}

// The lines to add to a program that has set all options, before it calls pebble.Open. Tables on
// disk may have filters under any of these names.
func ExampleConfigure() {
	opt := &pebble.Options{}

	filterPolicy, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	if err := pebblev2.Configure(opt, filterPolicy); err != nil {
		log.Fatal(err)
	}

	fmt.Println("new tables:", opt.Levels[0].FilterPolicy.Name())
	for _, name := range slices.Sorted(maps.Keys(opt.Filters)) {
		fmt.Println("read:", name)
	}
	// Output:
	// new tables: leveldb.BuiltinBloomFilter2
	// read: leveldb.BuiltinBloomFilter
	// read: leveldb.BuiltinBloomFilter2
	// read: rocksdb.BuiltinBloomFilter
}

// L0 gets filters of 16 bits per key, L6 none, and all other levels 10 bits.
func ExampleWithLevel() {
	p10, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	p16, err := policy.NewRibbon(16)
	if err != nil {
		log.Fatal(err)
	}
	o := &pebble.Options{}
	err = pebblev2.Configure(o, p10, pebblev2.WithLevel(0, p16), pebblev2.WithLevel(6, nil))
	if err != nil {
		log.Fatal(err)
	}

	for _, level := range []int{0, 5} {
		fmt.Println(level, o.Levels[level].FilterPolicy)
	}
	// Output:
	// 0 ribbon:16
	// 5 ribbon:10
}

// Before it writes a key, a program looks whether it is new.
func ExampleHas() {
	p, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	o := &pebble.Options{FS: vfs.NewMem()}
	if err := pebblev2.Configure(o, p); err != nil {
		log.Fatal(err)
	}
	db, err := pebble.Open("db", o)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	for _, key := range []string{"one", "two", "one"} {
		found, err := pebblev2.Has(db, []byte(key))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(key, found)
		if err := db.Set([]byte(key), nil, pebble.NoSync); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// one false
	// two false
	// one true
}

// A program gives filters to the tables of a database that has none, while it uses the database.
func ExampleRewrite() {
	o := &pebble.Options{FS: vfs.NewMem()}
	db, err := pebble.Open("db", o)
	if err != nil {
		log.Fatal(err)
	}
	for _, key := range []string{"one", "two"} {
		if err := db.Set([]byte(key), nil, pebble.NoSync); err != nil {
			log.Fatal(err)
		}
	}
	if err := errors.Join(db.Flush(), db.Close()); err != nil {
		log.Fatal(err)
	}

	p, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	if err := pebblev2.Configure(o, p); err != nil {
		log.Fatal(err)
	}
	if db, err = pebble.Open("db", o); err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	err = pebblev2.Rewrite(context.Background(), o, db, func(done, total int) {
		fmt.Printf("%d of %d tables done\n", done, total)
	})
	if err != nil {
		log.Fatal(err)
	}
	report, err := pebblev2.CheckCache(o, db)
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range report.Levels {
		for name, tables := range l.ByName {
			fmt.Println(tables, "with", name)
		}
	}
	// Output:
	// 1 of 1 tables done
	// 1 with leveldb.BuiltinBloomFilter2
}

// A program publishes the counters of its policy to Prometheus, with a label for the database.
func Example_prometheus() {
	p, err := policy.NewRibbon(10, policy.WithCounters())
	if err != nil {
		log.Fatal(err)
	}
	o := &pebble.Options{FS: vfs.NewMem()}
	if err := pebblev2.Configure(o, p); err != nil {
		log.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	publish := func(name, help string, count func() uint64) {
		opts := prometheus.CounterOpts{
			Name: name, Help: help, ConstLabels: prometheus.Labels{"db": "state"},
		}
		registry.MustRegister(prometheus.NewCounterFunc(opts, func() float64 {
			return float64(count())
		}))
	}
	publish("filter_absent_total", "Checks of filters that answered absent.",
		func() uint64 { return p.Counters().Absent })
	publish("filters_built_total", "Filters built.",
		func() uint64 { return p.Counters().Filters })

	db, err := pebble.Open("db", o)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for _, key := range []string{"one", "two"} {
		if err := db.Set([]byte(key), nil, pebble.NoSync); err != nil {
			log.Fatal(err)
		}
	}
	if err := db.Flush(); err != nil {
		log.Fatal(err)
	}
	if _, err := pebblev2.Has(db, []byte("three")); err != nil {
		log.Fatal(err)
	}
	families, err := registry.Gather() // as Prometheus does when it scrapes
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range families {
		m := f.GetMetric()[0]
		fmt.Println(f.GetName(), m.GetLabel()[0].GetValue(), m.GetCounter().GetValue())
	}
	// Output:
	// filter_absent_total state 1
	// filters_built_total state 1
}
