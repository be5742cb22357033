// Package goleveldb builds and reads the filters of github.com/syndtr/goleveldb with a
// [policy.Policy].
//
// [Configure] prepares the options of a database. [New] returns a bare filter.Filter for code that
// writes and reads tables itself, with table.NewWriter and table.NewReader. [TableOptions] prepares
// the options for reading a database's own tables in that way:
//
//	r, err := table.NewReader(file, size, fd, nil, nil, goleveldb.TableOptions(o))
//	...
//	key, value, err := r.Find(goleveldb.SearchKey([]byte("user's key")), true, nil)
//	...
//	k, err := goleveldb.ParseInternalKey(key)
//
// # Two names for the same bytes
//
// goleveldb stores a filter under its policy's name, and ignores a filter whose name it does not
// know: no key is lost, and no read is avoided. goleveldb and C++ LevelDB write the same bytes
// under different names:
//
//	policy.Name           leveldb.BuiltinBloomFilter2   C++ LevelDB since 1.18
//	policy.NameGoLevelDB  leveldb.BuiltinBloomFilter    goleveldb's filter.NewBloomFilter
//
// A database that Configure has prepared reads both, at any number of bits per key, and every kind
// of filter of package policy under either name. Plain goleveldb and C++ LevelDB each read Bloom
// filters under their own name. To ribbon filters they answer "may contain", which is correct, but
// saves no read.
//
// C++ LevelDB before 1.18 used policy.NameGoLevelDB too, and its hash could treat bytes of 0x80 and
// above as negative numbers. No reader of that name, goleveldb's own filter included, can tell such
// filters apart, and it may miss keys. If a database may have tables of that age, choose another
// name and remove the entry for policy.NameGoLevelDB from Options.AltFilters after Configure.
//
// # Absent keys that read nothing, and write nothing
//
// Filters can only save what the options let them save. All tables must stay open, filters and
// indexes must fit into the block cache, and lookups must not start compactions. [CheckCache] says
// which of these conditions fails, and what to set. [WithoutSeekCompactions] meets the last one.
//
// # Changing a live database
//
// Close the database, pass its options to Configure, and open it. Tables on disk keep their
// filters, and these stay in use. Tables written from then on get the new ones. This also holds for
// every later change of bits per key, kind or window size. After a change of name, keep the former
// policy in Options.Filter or Options.AltFilters when you call Configure; LevelDB's two names are
// always read.
//
// To leave, open the database without this package. No key is lost, and plain goleveldb still
// uses Bloom filters under policy.NameGoLevelDB. adapters/README.md says more.
package goleveldb
