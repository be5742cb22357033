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
// [New] is for code that makes and reads tables itself, with table.NewWriter and table.NewReader, and
// [ForInternalKeys] for code that reads the tables of a database in that way.
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
// # Taking over a live database, and leaving
//
// Close the database and open it with options that Configure has prepared; nothing is converted. Tables on disk keep
// their filters, and these are still asked; every table that a flush or a compaction writes from then on has the new
// ones. Filters under a name of the user's own stay in use if the former filter is in the options that are passed to
// Configure.
//
// To leave, open the database without this package. goleveldb's own filter ignores the filters under policy.Name until
// compactions have replaced them, and asks those of a policy made with policy.WithName(policy.NameGoLevelDB): that name
// is the one for a database that plain goleveldb opens too.
package goleveldb
