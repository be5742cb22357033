// Package policy builds and reads filters for storage engines: LevelDB's Bloom filters, byte for
// byte as C++ LevelDB writes them, and ribbon filters, with about a tenth of the false positives.
//
// To use filters in an engine, pass a policy to Configure of package adapters/goleveldb,
// adapters/pebblev1 or adapters/pebblev2 before you open the database:
//
//	p, err := policy.NewRibbon(10) // bits per key
//	...
//	err = goleveldb.Configure(options, p)
//
// To use filters by themselves:
//
//	filter := p.AppendFilter(nil, keys)
//	if policy.MayContain(filter, key) { // read the data
//
// A filter always answers "may contain" for a key that was added to it. For other keys it answers
// "absent", except for a small share of false positives. If the answer is "absent", the engine
// reads no data.
//
// # Which policy
//
//   - [NewRibbon](10), unless another program must use the filters. For random keys it has about a
//     tenth of the false positives of NewBloom(10), and its rate is the same for keys of any shape.
//     It takes longer to build. Readers other than this package answer "may contain" for every key.
//   - [NewBloom](10) for C++ LevelDB and readers like it, and
//     NewBloom(10, [WithName]([NameGoLevelDB])) for plain goleveldb. Each looks for its own name.
//   - NewBloom(10, [WithTuning]()), under such a name, if the keys are dense numbers, such as
//     counters.
//   - [FromString]("ribbon:10") if a configuration file or a flag chooses.
//
// [BitsFor] computes the bits per key for a false-positive rate. [WithCounters] shows what a policy
// does, and [Parse] what a filter is. Reading needs no setting: [MayContain] and every policy read
// the filters of all policies, so one database may contain several kinds.
//
// # Filters without an engine
//
// A filter is a slice of bytes, to which no key can be added later. For keys that come in parts,
// make a filter of each part. [MayContain] needs no memory besides the bytes, so a filter in a file
// can be mapped instead of read.
//
// In a file of your own, store a checksum, as Example (File) does. A ribbon filter that was cut off
// may look like one of LevelDB's, and deny keys: 30 of the 256 last bytes do that.
//
// # What is promised
//
// No bytes make a reader panic, and where it recognizes damage, it answers "may contain": for all
// keys, or for the keys of a damaged shard of a ribbon filter. Damage that cannot be recognized (in
// the bits, or the number of probes of LevelDB's filters) can lose keys; the engines' checksums
// catch it. FORMAT.md in this directory specifies the bytes and which damage is recognized.
//
// The false-positive rates assume that keys were not chosen by an adversary. The hashes have no
// secret: anyone can compute absent keys that collide with a known key, and anyone who writes keys
// can make chosen absent keys collide. The same is true of LevelDB, RocksDB and Pebble. Collisions
// cost reads, never keys.
//
// # For adapters
//
// An adapter for another engine calls [Policy.Check] before it changes options, stores filters
// under [Policy.Name], builds them with [Policy.NewBuilder], and reads them with
// [Policy.MayContain]. Engines that add a key once for each of its versions, as Pebble does, need
// [Policy.NewDistinctBuilder]. Pebble makes one filter for each table, LevelDB and goleveldb one
// for each window of data blocks: see package sstable.
package policy
