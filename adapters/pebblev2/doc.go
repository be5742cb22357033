// Package pebblev2 builds and reads the filters of Pebble v2 (github.com/cockroachdb/pebble/v2)
// with a [policy.Policy].
//
// [Configure] sets one policy on a database's options, [ConfigureLevels] one per level. [Has],
// [Get], [HasAll] and [MayContain] look keys up with the filters of all levels. [New]
// returns a bare pebble.FilterPolicy for everything else that takes one: sstable.WriterOptions, the
// Filters of sstable.ReaderOptions, Pebble's tools. [ByName] finds the policies again when an
// options file is parsed. [FiltersOnDisk] counts the filters that a database has, and [CheckCache]
// tells whether the caches have room for them and for the tables.
//
// # Filters are found by name
//
// Pebble writes one filter per table, over the prefixes that the comparer's Split returns (whole
// keys by default), and stores the policy's name beside it. It reads a filter through the policy of
// that name in Options.Filters. Without one, it reads the table as if it had no filter: no key is
// lost, and no read is avoided. So every name still on disk needs an entry, and Configure adds
// them. Reading needs no setting: policies with different bits per key, and all kinds of package
// policy, may share a name.
//
// A key counts once in its filter, however many versions it has. So do two different keys in a row
// whose hashes are equal, as in Pebble's own filters; both are found. See
// policy.NewDistinctBuilder.
//
// # Absent keys, and the filters of L6
//
// The last level, L6, contains most of the data. DB.Get never consults its filters: it reads a
// block for each absent key. [Has], [Get], [HasAll] and [MayContain] consult them, and read a block
// only if a filter has a false positive:
//
//	err := pebblev2.Configure(o, p) // before pebble.Open
//	...
//	found, err := pebblev2.Has(db, key)
//
// They also do without Configure, because a level without a policy of its own inherits the policy
// of the level above (in v1, of the last entry of Options.Levels).
//
// Which lookup to take:
//
//	db.Get      keys that are mostly present and cached: it takes the least time
//	Has, Get    all other keys: never more reads than db.Get
//	HasAll      from about three keys on: a fraction of the time for absent ones
//	MayContain  where "perhaps" is enough, as before a Put: it reads no data
//
// "Never more reads" holds if three things are right:
//
//   - Tables have the mark that Configure gives new ones, and filters. Older tables get both as
//     compactions rewrite them; db.Compact over all keys rewrites at once the tables that overlap.
//     Until then, a present key costs a read for each level that has a version of it.
//     [FiltersOnDisk] counts both.
//   - The block cache has room for filters and indexes, beside two memtables. With Pebble's default
//     sizes it has none: see [CheckCache].
//   - The comparer has a Split. In Pebble v1, whose default has none, Configure gives it one.
//     DB.RangeKeySet then no longer returns an error, and SeekPrefixGE no longer panics. Nothing
//     else changes, and the database can be opened with either comparer.
//
// # Changing a live database
//
// Close the database, pass its options to Configure, and open it. Tables on disk keep their
// filters, Pebble's own among them, and these stay in use. Tables written from then on get the new
// ones. This also holds for every later change of bits per key, kind or levels. After a change of
// name, keep the former policy in the options when you call Configure.
//
// A compaction that moves a table without rewriting it keeps the table's filter, so a level may
// contain filters of the level above.
//
// To leave, open the database with the former options. Pebble then ignores the filters whose name
// it does not know, until compactions have replaced them; no key is lost. adapters/README.md says
// more.
package pebblev2

// The files levels.go, version.go, engine_test.go, levels_test.go and storage_test.go are written
// by hand for each version of Pebble, and zstd.go, zstd_test.go and split_test.go for v1 alone. In
// the others the versions differ in names alone: adapters/internal/genpebblev1 derives the files for
// Pebble v1.
