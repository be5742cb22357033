// Package pebblev2 builds and reads the filters of Pebble v2 (github.com/cockroachdb/pebble/v2)
// with a [policy.Policy].
//
// [Configure] sets one policy on a database's options, [ConfigureLevels] one per level. [Has] and
// [Get] look up keys that are probably absent, with the filters of all levels. [New]
// returns a bare pebble.FilterPolicy for everything else that takes one: sstable.WriterOptions, the
// Filters of sstable.ReaderOptions, Pebble's tools. [ByName] finds the policies again when an
// options file is parsed. [FiltersOnDisk] counts the filters that a database has, and [CheckCache]
// tells whether the block cache has room for them.
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
// The last level, L6, contains most of the data, and its filters take most of the memory. DB.Get
// never asks them, so each lookup of an absent key reads a block of L6. Configure gives L6 no
// filters, unless it is called with [WithL6]. Then lookups of absent keys by [Has] and [Get] read a
// block for false positives only:
//
//	err := pebblev2.Configure(o, p, pebblev2.WithL6(p)) // before pebble.Open
//	...
//	found, err := pebblev2.Has(db, key)
//
// Three things must be right:
//
//   - The keys are probably absent. For a key that is present, DB.Get stops at its newest version;
//     Has and Get read a block for each level that still has an older one.
//   - L6 has filters. It gets them as compactions rewrite its tables; db.Compact over all keys does
//     it at once where tables overlap.
//   - The block cache has room for the filters, beside two memtables. With Pebble's default sizes
//     it has none: see [CheckCache].
//
// In Pebble v1, [WithL6] also gives the comparer a Split if it has none. DB.RangeKeySet then no
// longer returns an error, and SeekPrefixGE no longer panics. Nothing else changes, and the
// database can be opened with either comparer.
//
// Has and Get use iterators, which take samples of what they read and may ask for compactions;
// DB.Get does not. Options.Experimental.ReadSamplingMultiplier = -1 turns that off.
//
// # Changing a live database
//
// Close the database, pass its options to Configure, and open it. Tables on disk keep their
// filters, Pebble's own among them, and these stay in use. Tables written from then on get the new
// ones. The same goes for every later change of bits per key, kind or levels. After a change of
// name, keep the former policy in the options when you call Configure.
//
// A compaction that moves a table without rewriting it keeps the table's filter, so a level may
// contain filters of the level above.
//
// To leave, open the database with the former options. Pebble then ignores the filters whose name
// it does not know, until compactions have replaced them; no key is lost. adapters/README.md says
// more.
package pebblev2

// The files levels.go, version.go, engine_test.go, levels_test.go and storage_test.go are written by
// hand for each version of Pebble. In the others the versions differ in names alone:
// adapters/internal/genpebblev1 derives the files for Pebble v1.
