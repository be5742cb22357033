// Package pebblev2 gives Pebble v2 (github.com/cockroachdb/pebble/v2) the filters of a
// [policy.Policy]. Pass the options of a database to [Configure] before you open it, and look keys
// up with [Has] or [Get], which consult the filters of all levels:
//
//	p, err := policy.NewRibbon(10) // bits per key, or per prefix if the comparer splits keys
//	...
//	// Pebble's default, 8 MiB, is filled by memtables.
//	o := &pebble.Options{Cache: pebble.NewCache(64 << 20)}
//	defer o.Cache.Unref()
//	err = pebblev2.Configure(o, p) // the last step before Open
//	...
//	db, err := pebble.Open("db", o)
//	found, err := pebblev2.Has(db, key)
//
// Filters save reads only if they fit into the block cache, and all tables into the file cache.
// Once the database has its tables, print the report of [Check], which says what to set.
//
// # Absent keys, and the filters of L6
//
// The last level, L6, contains most of the data. DB.Get never consults its filters: it reads up to
// a block there for each absent key. The lookups of this package consult them, and read a block
// only for a false positive. Which lookup to take:
//
//	db.Get      keys that are nearly all present: it takes the least time
//	Has, Get    all other keys: while filters and indexes are cached, at most one lookup in 512
//	            reads a block more than db.Get
//	HasMany     many keys, most of them absent: it takes much less time than Has for each
//	MayContain  where a wrong "yes" does no harm: it reads no data of tables with a mark
//
// These lookups also use filters that Pebble wrote without Configure: a level without a policy
// takes that of the level above, so L6 has filters too.
//
// # Changing a live database
//
// Close the database, pass its options to Configure, and open it. The filters on disk stay in use,
// Pebble's own among them. Tables written from then on get the new ones, and [Rewrite] gives them
// to the others. This also holds for every later change of bits per key, kind or levels. After a
// change of name, keep the former policy in the options when you call Configure.
//
// To leave, open the database without Configure, and look keys up with its own Get. Pebble ignores
// the filters whose name it does not know; no key is lost.
package pebblev2

// Written by hand for each version of Pebble: levels.go, version.go, engine_test.go and
// levels_test.go. All other files differ in names alone: adapters/internal/genpebblev1 derives
// those for Pebble v1, tests only for a run.
