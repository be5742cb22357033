package goleveldb_test

import (
	"fmt"
	"log"
	"os"
	"reflect"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// go-ethereum's store for goleveldb (ethdb/leveldb/leveldb.go, New and NewCustom), with a small
// cache. The filters get goleveldb's own name for the encoding, so that a program without the
// recipe asks them too.
func ExampleConfigure_goEthereum() {
	const cache = 16 * opt.MiB
	options := &opt.Options{
		Filter:                 filter.NewBloomFilter(10),
		DisableSeeksCompaction: true,
		OpenFilesCacheCapacity: 16,
		BlockCacheCapacity:     cache / 2,
		WriteBuffer:            cache / 4,
		ReadOnly:               false,
	}
	former := *options

	// The recipe: all options are set, leveldb.OpenFile follows.
	bloomPolicy, err := policy.NewBloom(10, policy.WithName(policy.NameGoLevelDB))
	if err != nil {
		log.Fatal(err)
	}
	if err := goleveldb.Configure(options, bloomPolicy); err != nil {
		log.Fatal(err)
	}

	takeOver(former, *options)
	// Output:
	// former options: leveldb.BuiltinBloomFilter
	// the recipe's: leveldb.BuiltinBloomFilter, and read leveldb.BuiltinBloomFilter2
	// all other options unchanged: true
	// former options: 100 of 100 keys found, filters asked 100 times
	// the recipe's: 200 of 200 keys found, filters asked 200 times
	// former options: 300 of 300 keys found, filters asked 300 times
}

// cosmos-db's store for goleveldb (goleveldb.go, NewGoLevelDB).
func ExampleConfigure_cosmosDB() {
	defaultOpts := &opt.Options{Filter: filter.NewBloomFilter(10)}
	defaultOpts.OpenFilesCacheCapacity = 100
	former := *defaultOpts

	// The recipe: all options are set, leveldb.OpenFile follows.
	bloomPolicy, err := policy.NewBloom(10, policy.WithName(policy.NameGoLevelDB))
	if err != nil {
		log.Fatal(err)
	}
	if err := goleveldb.Configure(defaultOpts, bloomPolicy); err != nil {
		log.Fatal(err)
	}

	takeOver(former, *defaultOpts)
	// Output:
	// former options: leveldb.BuiltinBloomFilter
	// the recipe's: leveldb.BuiltinBloomFilter, and read leveldb.BuiltinBloomFilter2
	// all other options unchanged: true
	// former options: 100 of 100 keys found, filters asked 100 times
	// the recipe's: 200 of 200 keys found, filters asked 200 times
	// former options: 300 of 300 keys found, filters asked 300 times
}

// takeOver prints what differs between two sets of options. Then it opens a database with the
// former ones, with the recipe's, and with the former ones again. Each time it writes 100 keys to a
// table of their own, and prints how many of all keys it finds. A key lies in one table, so Get
// asks one filter if the options know its name.
func takeOver(former, recipe opt.Options) {
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("former options:", filterNames(former))
	fmt.Println("the recipe's:", filterNames(recipe))
	before, after := former, recipe
	before.Filter, before.AltFilters, after.Filter, after.AltFilters = nil, nil, nil, nil
	fmt.Println("all other options unchanged:", reflect.DeepEqual(before, after))

	dir, err := os.MkdirTemp("", "levelbloom-")
	check(err)
	defer os.RemoveAll(dir)
	var keys [][]byte
	for i, step := range []struct {
		name    string
		options opt.Options
	}{{"former options", former}, {"the recipe's", recipe}, {"former options", former}} {
		o, filters := step.options, []*counted{}
		count := func(f filter.Filter) filter.Filter {
			filters = append(filters, &counted{Filter: f})
			return filters[len(filters)-1]
		}
		o.Filter, o.AltFilters = count(o.Filter), nil
		for _, f := range step.options.AltFilters {
			o.AltFilters = append(o.AltFilters, count(f))
		}
		db, err := leveldb.OpenFile(dir, &o)
		check(err)
		prefix := fmt.Sprintf("%c-", 'a'+i)
		for n := range 100 {
			key := fmt.Appendf(nil, "%s%03d", prefix, n)
			check(db.Put(key, key, nil))
			keys = append(keys, key)
		}
		// This writes a table of them and does not change the others.
		check(db.CompactRange(*util.BytesPrefix([]byte(prefix))))
		found := 0
		for _, key := range keys {
			if got, err := db.Get(key, nil); err == nil && string(got) == string(key) {
				found++
			}
		}
		var asked int64
		for _, f := range filters {
			asked += f.asked.Load()
		}
		fmt.Printf("%s: %d of %d keys found, filters asked %d times\n",
			step.name, found, len(keys), asked)
		check(db.Close())
	}
}

// filterNames shows the name of the filter that new tables get, and those of the other filters that
// are read.
func filterNames(o opt.Options) string {
	names := o.Filter.Name()
	for _, f := range o.AltFilters {
		names += ", and read " + f.Name()
	}
	return names
}
