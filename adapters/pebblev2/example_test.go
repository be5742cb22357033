package pebblev2_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
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

	for _, key := range []string{"one", "two", "one"} {
		found, err := pebblev2.Has(db, []byte(key))
		if err != nil {
			log.Fatal(err)
		}
		if found {
			fmt.Println(key, "is there already")
			continue
		}
		if err := db.Set([]byte(key), []byte("value"), pebble.Sync); err != nil {
			log.Fatal(err)
		}
	}
	value, closer, err := pebblev2.Get(db, []byte("two"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", value)
	if err := closer.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// one is there already
	// value
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
	none := &policy.Policy{}
	err = pebblev2.Configure(o, p10, pebblev2.WithLevel(0, p16), pebblev2.WithLevel(6, none))
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

// Many keys are looked up in a snapshot, so that all answers are of one moment.
func ExampleHasMany() {
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
	if err := db.Set([]byte("one"), nil, pebble.NoSync); err != nil {
		log.Fatal(err)
	}

	snapshot := db.NewSnapshot()
	defer snapshot.Close()
	found, err := pebblev2.HasMany(snapshot, [][]byte{[]byte("one"), []byte("two")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found)
	// Output: [true false]
}

// Pebble's default cache is filled by memtables, so filters do not stay in it.
func ExampleCheck() {
	p, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	o := &pebble.Options{FS: vfs.NewMem(), FormatMajorVersion: pebble.FormatNewest}
	if err := pebblev2.Configure(o, p); err != nil {
		log.Fatal(err)
	}
	db, err := pebble.Open("db", o)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := errors.Join(db.Set([]byte("key"), nil, pebble.NoSync), db.Flush()); err != nil {
		log.Fatal(err)
	}

	report, err := pebblev2.Check(o, db)
	if err != nil {
		log.Fatal(err)
	}
	for _, warning := range report.Warnings {
		problem, remedy, _ := strings.Cut(warning, ": ")
		fmt.Println(problem)
		fmt.Println(remedy[:52])
	}
	// Output:
	// the block cache (8.0 MiB) is too small
	// set Options.Cache to pebble.NewCache(9 << 20), or mo
}

// A program gives filters to the tables of a database that has none, while it uses the database.
func ExampleRewrite() {
	o := &pebble.Options{FS: vfs.NewMem(), FormatMajorVersion: pebble.FormatNewest}
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
	err = pebblev2.Rewrite(context.Background(), o, db, func(done, total int64) {
		fmt.Printf("%d %% of the tables' bytes are done\n", 100*done/total)
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 100 % of the tables' bytes are done
}

// A program publishes to Prometheus how often the filters of L6 and of the other levels answered
// absent. A name of its own, stored in each table, tells L6's filters from the others.
func Example_prometheus() {
	upper, err := policy.NewRibbon(10, policy.WithCounters())
	if err != nil {
		log.Fatal(err)
	}
	last, err := policy.NewRibbon(10, policy.WithCounters(), policy.WithName("example.L6"))
	if err != nil {
		log.Fatal(err)
	}
	o := &pebble.Options{FS: vfs.NewMem()}
	if err := pebblev2.Configure(o, upper, pebblev2.WithLevel(6, last)); err != nil {
		log.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	for levels, p := range map[string]*policy.Policy{"L0 to L5": upper, "L6": last} {
		registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "filter_absent_total", Help: "Checks of filters that answered absent.",
			ConstLabels: prometheus.Labels{"levels": levels},
		}, func() float64 { return float64(p.Counters().Absent) }))
	}

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
	for _, m := range families[0].GetMetric() {
		fmt.Println(m.GetLabel()[0].GetValue(), m.GetCounter().GetValue())
	}
	// Output:
	// L0 to L5 1
	// L6 0
}
