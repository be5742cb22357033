package pebblev1_test

import (
	"log"
	"runtime"

	"github.com/cockroachdb/pebble"
	engine "github.com/cockroachdb/pebble/bloom"

	"github.com/levelbloom/levelbloom/adapters/pebblev1"
	"github.com/levelbloom/levelbloom/policy"
)

// go-ethereum's store for Pebble v1 (ethdb/pebble/pebble_v1.go, NewV1), with a small cache. The
// store looks keys up with Get, which never uses filters in L6, and has no iterator that would: its
// L6 has no filter, and without WithL6 it stays so.
func ExampleConfigure_goEthereum() {
	const cache, memTables = 16 << 20, 4
	opt := &pebble.Options{
		Cache:                       pebble.NewCache(cache),
		MaxOpenFiles:                16,
		MemTableSize:                cache / 2 / memTables,
		MemTableStopWritesThreshold: 2 * memTables,
		MaxConcurrentCompactions:    runtime.NumCPU,
		L0CompactionThreshold:       2,
		WALBytesPerSync:             512_000,
		ReadOnly:                    false,
		Logger:                      quiet{},
		EventListener: &pebble.EventListener{
			CompactionBegin: func(pebble.CompactionInfo) {},
			CompactionEnd:   func(pebble.CompactionInfo) {},
			WriteStallBegin: func(pebble.WriteStallBeginInfo) {},
			WriteStallEnd:   func() {},
		},
		Levels: make([]pebble.LevelOptions, 7),
	}
	for level := range opt.Levels {
		opt.Levels[level].TargetFileSize = 2 << 20 << level
		if level < 6 {
			opt.Levels[level].FilterPolicy = engine.FilterPolicy(10)
		}
	}
	opt.Levels[0].TargetFileSize = 16 << 20 // the others: 4 to 128 MiB
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
	if err := pebblev1.Configure(opt, bloomPolicy); err != nil {
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
	// L6: none -> none
	// all other options unchanged: true
	// former options: 100 of 100 keys found, filters asked 100 times
	// the recipe's: 200 of 200 keys found, filters asked 200 times
	// former options: 300 of 300 keys found, filters asked 200 times
}

// cosmos-db's store for Pebble (pebble.go, NewPebbleDB). It had no filter before. It sets Pebble's
// defaults itself, which makes one entry of options for all levels.
func ExampleConfigure_cosmosDB() {
	do := &pebble.Options{
		Logger:                   quiet{},
		MaxConcurrentCompactions: func() int { return 3 },
	}
	do.EnsureDefaults()
	do.MaxOpenFiles = 100
	former := do.Clone()

	// The recipe: all options are set, pebble.Open follows.
	bloomPolicy, err := policy.NewBloom(10)
	if err != nil {
		log.Fatal(err)
	}
	if err := pebblev1.Configure(do, bloomPolicy); err != nil {
		log.Fatal(err)
	}

	takeOver(former, do)
	// Output:
	// L0: none -> leveldb.BuiltinBloomFilter2
	// L1: none -> leveldb.BuiltinBloomFilter2
	// L2: none -> leveldb.BuiltinBloomFilter2
	// L3: none -> leveldb.BuiltinBloomFilter2
	// L4: none -> leveldb.BuiltinBloomFilter2
	// L5: none -> leveldb.BuiltinBloomFilter2
	// L6: none -> none
	// all other options unchanged: true
	// former options: 100 of 100 keys found, filters asked 0 times
	// the recipe's: 200 of 200 keys found, filters asked 100 times
	// former options: 300 of 300 keys found, filters asked 0 times
}
