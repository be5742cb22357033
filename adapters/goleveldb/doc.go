// Package goleveldb makes and reads the filters of github.com/syndtr/goleveldb with a [policy.Policy].
//
// [Configure] prepares the options of a database:
//
//	p, err := policy.NewBloom(10)
//	...
//	o := &opt.Options{}
//	err = goleveldb.Configure(o, p)
//	...
//	db, err := leveldb.OpenFile(dir, o)
//
// [New] is for code that makes and reads tables itself, with table.NewWriter and table.NewReader, and [TableOptions] for
// tools that read the tables of a database in that way:
//
//	r, err := table.NewReader(file, size, fd, nil, nil, goleveldb.TableOptions(o))
//	...
//	key, value, err := r.Find(goleveldb.SearchKey([]byte("user's key")), true, nil)
//	...
//	k, err := goleveldb.ParseInternalKey(key)
//
// # Two names for the same bytes
//
// A filter is stored under its policy's name, and an engine ignores a filter whose name it does not know: no key is
// lost by that, but no read is avoided either. goleveldb and C++ LevelDB make the same bytes under different names:
//
//	policy.Name           leveldb.BuiltinBloomFilter2   C++ LevelDB since 1.18, and policy.NewBloom
//	policy.NameGoLevelDB  leveldb.BuiltinBloomFilter    goleveldb's filter.NewBloomFilter
//
// A database that Configure has prepared reads both, at any number of bits per key. So it uses the filters of tables
// that C++ LevelDB wrote, and of those that goleveldb's own filter wrote. In the other direction, C++ LevelDB with its
// NewBloomFilterPolicy uses the filters written here under the default name, policy.Name.
//
// C++ LevelDB before 1.18 used the name policy.NameGoLevelDB too, and its hash could take bytes of 0x80 and above for
// negative numbers. Whoever reads such a filter under that name, goleveldb's own filter included, may miss keys. If a
// database can have tables of that age, remove the entry of that name from Options.AltFilters after Configure, and do not
// give the policy that name.
//
// # Exact, blocked and binary fuse filters
//
// policy.NewBloom makes LevelDB's own filters, policy.NewBlockedBloom and policy.NewBinaryFuse those of encodings in the range
// that LevelDB keeps for new ones. All may be in one database, under one name or several, and each policy reads all. Other
// readers, goleveldb's own filter and C++ LevelDB among them, answer "may contain" to every key of a blocked or binary fuse
// filter: they lose no key, and avoid no read. So where one of them opens the database too, these filters help nobody but
// programs with this package.
//
// Binary fuse filters are for many keys: for few, as windows of 2 KiB have, the policy nearly always makes blocked ones.
// [WithFilterBaseLg] makes windows larger; with 21 there is one for a table of the default size.
//
// # Taking over a live database, and leaving
//
// Close the database and open it with options that Configure has prepared; nothing is converted. Tables on disk keep
// their filters, and these are still asked; every table that a flush or a compaction writes from then on has the new
// ones. Filters under a name of the user's own stay in use if the former filter is in the options that are passed to
// Configure.
//
// To leave, open the database without this package. goleveldb's own filter ignores the filters under policy.Name until
// compactions have replaced them, and asks those of a policy made with policy.WithName(policy.NameGoLevelDB): that name
// is the one for a database that plain goleveldb opens too. C++ LevelDB asks those under policy.Name. Those that are not
// LevelDB's own cost no key, and spare no read. [Rewrite] with the options of whoever comes next, before leaving or after,
// makes all filters theirs.
//
// # Changing settings on a live database
//
// Each table carries its own filters, their setting and their name, so any change is a matter of closing the database,
// passing its options to Configure again, and opening it:
//
//   - More or fewer bits per key, another encoding of package policy, or another [WithFilterBaseLg]: nothing else to do.
//     Tables of all settings are read.
//   - Another name: pass the former options to Configure, or name the former policy in Options.AltFilters, so that the
//     filters under the old name stay in use. The two names of LevelDB's encoding are always read.
//   - Off, and on again: without a Filter in the options new tables have none, and those on disk are not asked. After
//     Configure they are.
//   - An encoding that is not one of package policy needs another name; Configure refuses it under the old one.
//
// Tables that flushes and compactions write from then on have the new filters. Tables of the deepest level may stay for
// years as they are, since goleveldb's CompactRange too leaves them alone. [Rewrite] replaces all tables of the open
// database:
//
//	err := goleveldb.Rewrite(ctx, db, func(p goleveldb.RewriteProgress) {
//		log.Printf("pass %d: %d of %d MiB", p.Pass, p.Done>>20, p.Total>>20)
//	})
//
// Changing options of a database that is open has no effect on it, and does it no harm.
package goleveldb
