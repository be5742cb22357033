package pebblev2_test

import (
	"log"
	"runtime"

	"github.com/cockroachdb/pebble/v2"
	engine "github.com/cockroachdb/pebble/v2/bloom"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// go-ethereum's store for Pebble v2 (ethdb/pebble/pebble.go, New), with a small cache. Its L6 names
// no filter, but in Pebble v2 a level that names none has that of the level above. The store looks
// keys up with Get, which never uses filters in L6, and has no iterator that would: without
// WithL6, the filters there go.
func ExampleConfigure_goEthereum() {
	const cache, memTables = 16 << 20, 4
	opt := &pebble.Options{
		Cache:                       pebble.NewCache(cache),
		MaxOpenFiles:                16,
		MemTableSize:                cache / 2 / memTables,
		MemTableStopWritesThreshold: 2 * memTables,
		CompactionConcurrencyRange:  func() (lower, upper int) { return 1, runtime.NumCPU() },
		L0CompactionThreshold:       2,
		WALBytesPerSync:             512_000,
		ReadOnly:                    false,
		FormatMajorVersion:          pebble.FormatFlushableIngest,
		Logger:                      quiet{},
		EventListener: &pebble.EventListener{
			CompactionBegin: func(pebble.CompactionInfo) {},
			CompactionEnd:   func(pebble.CompactionInfo) {},
			WriteStallBegin: func(pebble.WriteStallBeginInfo) {},
			WriteStallEnd:   func() {},
		},
	}
	for level := range opt.Levels {
		opt.TargetFileSizes[level] = 2 << 20 << level
		if level < 6 {
			opt.Levels[level].FilterPolicy = engine.FilterPolicy(10)
		}
	}
	opt.TargetFileSizes[0] = 16 << 20 // the others: 4 to 128 MiB
	opt.Experimental.ReadSamplingMultiplier = -1
	opt.Experimental.L0CompactionConcurrency = 1
	opt.Experimental.CompactionDebtConcurrency = 256 << 20
	defer opt.Cache.Unref()
	former := opt.Clone()

	// The recipe: all options are set, pebble.Open follows.
	bloomPolicy, err := policy.NewBloom(10)
	if err != nil {
		log.Fatal(err)
	}
	if err := pebblev2.Configure(opt, bloomPolicy); err != nil {
		log.Fatal(err)
	}

	takeOver(former, opt)
	// Output:
	// L0: rocksdb.BuiltinBloomFilter -> leveldb.BuiltinBloomFilter2
	// L1: rocksdb.BuiltinBloomFilter -> leveldb.BuiltinBloomFilter2
	// L2: rocksdb.BuiltinBloomFilter -> leveldb.BuiltinBloomFilter2
	// L3: rocksdb.BuiltinBloomFilter -> leveldb.BuiltinBloomFilter2
	// L4: rocksdb.BuiltinBloomFilter -> leveldb.BuiltinBloomFilter2
	// L5: rocksdb.BuiltinBloomFilter -> leveldb.BuiltinBloomFilter2
	// L6: rocksdb.BuiltinBloomFilter -> none
	// all other options unchanged: true
	// former options: 100 of 100 keys found, filters asked 100 times
	// the recipe's: 200 of 200 keys found, filters asked 200 times
	// former options: 300 of 300 keys found, filters asked 200 times
}

// A service that sets Pebble's own filter at L0, from where all levels below have it.
func ExampleConfigure_service() {
	opt := &pebble.Options{
		Cache:                 pebble.NewCache(16 << 20),
		FormatMajorVersion:    pebble.FormatNewest,
		MemTableSize:          8 << 20,
		L0CompactionThreshold: 2,
		L0StopWritesThreshold: 1000,
		LBaseMaxBytes:         64 << 20,
		Logger:                quiet{},
	}
	opt.Levels[0].FilterPolicy = engine.FilterPolicy(10)
	defer opt.Cache.Unref()
	former := opt.Clone()

	// The recipe: all options are set, pebble.Open follows.
	bloomPolicy, err := policy.NewBloom(10)
	if err != nil {
		log.Fatal(err)
	}
	if err := pebblev2.Configure(opt, bloomPolicy); err != nil {
		log.Fatal(err)
	}

	takeOver(former, opt)
	// Output:
	// L0: rocksdb.BuiltinBloomFilter -> leveldb.BuiltinBloomFilter2
	// L1: rocksdb.BuiltinBloomFilter -> leveldb.BuiltinBloomFilter2
	// L2: rocksdb.BuiltinBloomFilter -> leveldb.BuiltinBloomFilter2
	// L3: rocksdb.BuiltinBloomFilter -> leveldb.BuiltinBloomFilter2
	// L4: rocksdb.BuiltinBloomFilter -> leveldb.BuiltinBloomFilter2
	// L5: rocksdb.BuiltinBloomFilter -> leveldb.BuiltinBloomFilter2
	// L6: rocksdb.BuiltinBloomFilter -> none
	// all other options unchanged: true
	// former options: 100 of 100 keys found, filters asked 100 times
	// the recipe's: 200 of 200 keys found, filters asked 200 times
	// former options: 300 of 300 keys found, filters asked 200 times
}
