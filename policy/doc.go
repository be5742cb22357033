// Package policy builds and reads the Bloom filters of LevelDB, byte for byte as C++ LevelDB does,
// and ribbon filters, an encoding of our own.
//
// A storage engine stores filters in its tables: Pebble one for each table, LevelDB and goleveldb
// one for each window of data blocks. A filter always answers "may contain" for a key that was
// added to it. For other keys it answers "absent", except for a small share of false positives.
// If the answer is "absent", the engine reads no data.
//
// Which constructor to call:
//
//   - [NewRibbon](10), unless another program must use the filters. For random keys it has about a
//     tenth of the false positives of NewBloom(10), and its rate is the same for keys of any shape.
//     It takes longer to build. Readers other than this package answer "may contain" for every key.
//   - [NewBloom](10) for C++ LevelDB and readers like it, and
//     NewBloom(10, [WithName]([NameGoLevelDB])) for plain goleveldb. Each looks for its own name.
//   - NewBloom(10, [WithTuning]()), under such a name, if the keys are dense numbers, such as
//     counters.
//   - [FromString]("ribbon:10") if a configuration file or a flag chooses. [BitsFor] computes the
//     bits per key for a false-positive rate.
//
// To use a policy in an engine, pass it to Configure of package adapters/goleveldb, pebblev1 or
// pebblev2. To use it alone:
//
//	p, err := policy.NewBloom(10) // bits per key
//	...
//	filter := p.AppendFilter(nil, keys)
//	if policy.MayContain(filter, key) { // read the data
//
// Reading needs no setting: [MayContain] and every policy read the filters of all policies,
// whatever their kind and bits per key. One database may contain several kinds. [WithCounters]
// shows what a policy does, and [Parse] what a filter is.
//
// # What is promised
//
// No bytes make a reader panic, and where it recognizes damage, it answers "may contain": for all
// keys, or for the keys of a damaged shard of a ribbon filter. Damage that cannot be recognized (in
// the bits, in LevelDB's k) can lose keys; the engines' checksums catch it. FORMAT.md in this
// directory specifies the bytes and which damage is recognized, and TESTING.md names the test of
// each promise.
//
// The false-positive rates assume that keys were not chosen by an adversary. The hashes have no
// secret: anyone can compute absent keys that collide with a known key, and anyone who writes keys
// can make chosen absent keys collide. The same is true of LevelDB, RocksDB and Pebble. Collisions
// cost reads, never keys.
package policy
