package pebblev2_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// A program puts a key only if it is absent. With several writers that takes a lock, from the
// lookup to the write.
func Example() {
	p, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	o := &pebble.Options{FS: vfs.NewMem(), Cache: pebble.NewCache(64 << 20)}
	defer o.Cache.Unref()
	if err := pebblev2.Configure(o, p); err != nil {
		log.Fatal(err)
	}
	db, err := pebble.Open("db", o)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	var mu sync.Mutex
	putIfAbsent := func(key, value []byte) (isNew bool, err error) {
		mu.Lock()
		defer mu.Unlock()
		if found, err := pebblev2.Has(db, key); found || err != nil {
			return false, err
		}
		return true, db.Set(key, value, pebble.Sync)
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

// A service adopts a database that has no filters: it gives them to the tables on disk while it
// runs. To end, it stops Rewrite and waits for it. The next start goes on from there.
func ExampleRewrite() {
	o := &pebble.Options{
		FS: vfs.NewMem(), Cache: pebble.NewCache(64 << 20), FormatMajorVersion: pebble.FormatNewest,
	}
	defer o.Cache.Unref()
	db, err := pebble.Open("db", o)
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(db.Set([]byte("one"), nil, nil), db.Set([]byte("two"), nil, nil),
		db.Flush(), db.Close()); err != nil {
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
	report, err := pebblev2.Check(o, db)
	if err != nil {
		log.Fatal(err)
	}
	for _, warning := range report.Warnings {
		fmt.Println(strings.Split(warning, ",")[0])
	}
	ctx, stop := context.WithCancel(context.Background())
	rewritten := make(chan struct{})
	go func() {
		defer close(rewritten)
		err := pebblev2.Rewrite(ctx, o, db, func(done, total int64) {
			fmt.Printf("%d %% of the tables' bytes are done\n", 100*done/total)
		})
		if err != nil && ctx.Err() == nil {
			log.Print(err)
		}
	}()
	closeDB := func() error {
		stop()
		<-rewritten
		return db.Close()
	}

	<-rewritten // for the output below: a service looks keys up meanwhile
	if err := closeDB(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1 of 1 tables have no filter
	// 100 % of the tables' bytes are done
}

// A service publishes to Prometheus what the filters of L6 and of the other levels answered. A name
// of its own, stored in each table, tells L6's filters from the others. Where keys are absent and
// were not deleted, answers "may contain" are false positives.
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
		for answer, count := range map[string]func() uint64{
			"absent":      func() uint64 { return p.Counters().Absent },
			"may contain": func() uint64 { return p.Counters().MayContain },
		} {
			registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
				Name: "filter_checks_total", Help: "Checks of filters, by what they answered.",
				ConstLabels: prometheus.Labels{"levels": levels, "answer": answer},
			}, func() float64 { return float64(count()) }))
		}
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
		labels := m.GetLabel()
		fmt.Println(labels[0].GetValue(), labels[1].GetValue(), m.GetCounter().GetValue())
	}
	// Output:
	// absent L0 to L5 1
	// absent L6 0
	// may contain L0 to L5 0
	// may contain L6 0
}
