// Package goleveldb gives github.com/syndtr/goleveldb the filters of a [policy.Policy]. Pass the
// options of a database to [Configure] before you open it:
//
//	p, err := policy.NewRibbon(10) // bits per key
//	...
//	o := &opt.Options{BlockCacheCapacity: 64 << 20, OpenFilesCacheCapacity: 1000} // see Check
//	// By default, lookups of absent keys make goleveldb compact tables.
//	o.DisableSeeksCompaction = true
//	err = goleveldb.Configure(o, p)
//	...
//	db, err := leveldb.OpenFile("db", o)
//
// # Lookups of absent keys without reads and writes
//
// DB.Get and DB.Has consult the filters, also those of a Snapshot; iterators do not. Filters save
// reads only if the options let them. Once the database has its tables, print the report of
// [Check], which says what to set. This prints how large the block cache must be:
//
//	go run github.com/levelbloom/levelbloom/sstable/filterdump@latest DIRECTORY
//
// What matters:
//
//   - All tables must stay open, in the file cache.
//   - The filters and indexes of all tables must fit into the block cache, where goleveldb keeps
//     them. If the filters of a table are evicted, the next lookup in that table reads them all,
//     whatever FilterBaseLg is. A table of 2 MiB with entries of 100 bytes has about 20,000
//     keys, so at 10 bits per key that is a read of 25 KB, to avoid a data block of 4 KiB.
//   - Lookups must not start compactions: set Options.DisableSeeksCompaction. By default goleveldb
//     counts each lookup that comes to a second table, before it checks the filters. After some
//     hundred of them it compacts the table that came first, although nothing was read in it, and
//     does so again and again while there are new writes. Compactions because of the sizes of
//     levels go on.
//
// # Windows
//
// Options.FilterBaseLg makes 2^FilterBaseLg bytes of a table's data blocks share one filter. A data
// block belongs to the window in which it begins. Set it to 16. The default of 11, the only setting
// that C++ LevelDB writes, makes in effect one filter per block. Few large values fit into a block,
// and each 2 KiB take 4 bytes besides: with values of 4,000 bytes, filters of 10 bits per key take
// 119, and with 16, 14 (`go test ./bench -run '^$' -bench Load -benchtime 1x -rounds 1`). More keys
// in a filter also reduce the false positives of numeric keys, up to about 10,000 (`go run ./bench
// rates`). Every table stores its setting, and goleveldb and C++ LevelDB read all of them.
//
// # Changing a live database
//
// Close the database, pass its options to Configure, and open it. The filters on disk stay in use.
// Tables written from then on get the new ones, and [Rewrite] gives them to the others. This also
// holds for every later change of bits per key, kind or window size. After a change of name, keep
// the former policy in Options.Filter or Options.AltFilters when you call Configure; LevelDB's two
// names are always read.
//
// To leave, open the database without this package. No key is lost, and plain goleveldb still
// uses Bloom filters under policy.NameGoLevelDB. adapters/README.md says more.
//
// # Two names for the same bytes
//
// goleveldb stores a filter under its policy's name, and ignores a filter whose name it does not
// know: no key is lost, and no read is avoided. goleveldb and C++ LevelDB write the same bytes
// under different names:
//
//	policy.NameLevelDB           leveldb.BuiltinBloomFilter2   C++ LevelDB since 1.18
//	policy.NameGoLevelDB  leveldb.BuiltinBloomFilter    goleveldb's filter.NewBloomFilter
//
// A database that Configure has prepared reads both, at any number of bits per key, and every kind
// of filter of package policy under either name. Plain goleveldb and C++ LevelDB each read Bloom
// filters under their own name. To ribbon filters they answer "may contain", which is correct, but
// saves no read.
//
// Two more programs use these names, and no reader can recognize their filters, so lookups may miss
// keys. C++ LevelDB before 1.18 used policy.NameGoLevelDB, and its hash could treat bytes of 0x80
// and above as negative numbers. Since 2012, Basho's LevelDB has used policy.NameLevelDB for other
// filters. If a database may have such tables, choose another name for the policy, and after
// Configure remove the entry for theirs from Options.AltFilters.
//
// # Recovery
//
// After leveldb.Recover or leveldb.RecoverFile, call CompactRange before any lookup. What goleveldb
// saves of a damaged table has filters of internal keys: lookups miss most of its keys, or panic.
//
// # Tables without a database
//
// [New] returns a bare filter.Filter for code that writes and reads tables of plain keys itself,
// with table.NewWriter and table.NewReader. To read the tables of a database, use package sstable.
package goleveldb
