// Package policy builds and reads the Bloom filters of LevelDB, byte for byte as C++ LevelDB does,
// and ribbon filters, which have an encoding of our own.
//
// A storage engine keeps a filter beside each table. The filter answers "may contain" for every key
// that was added to it, always. For other keys it answers "absent", except for a small share of
// false positives. A lookup that the filter answers "absent" reads no data.
//
// Which constructor to take:
//   - [NewRibbon](10) if only this package reads the filters. It has about a tenth of the false
//     positives of NewBloom(10), with keys of any shape, and takes longer to build. Other readers
//     answer "may contain".
//   - [NewBloom](10) if C++ LevelDB or another reader of LevelDB's filters reads them too.
//   - [NewBloom](10, [WithTuning](0.05)) if other readers must read the filters, and the keys are
//     dense numbers, such as counters.
//   - [FromString]("ribbon:10") if a configuration file or a flag chooses.
//
// To use a policy in an engine, pass it to Configure of package adapters/goleveldb, pebblev1 or
// pebblev2. To use it alone:
//
//	bloom, err := policy.NewBloom(10) // bits per key
//	...
//	filter := bloom.AppendFilter(nil, keys)
//	if policy.MayContain(filter, key) { // read the data
//
// Reading needs no setting: [MayContain] and all policies read the filters of every policy of this
// package, whatever its bits per key. So one database may have several kinds. [Count] counts what a
// policy does, and [Parse] shows what is in a filter.
//
// # What is promised
//
// No bytes make a reader panic, and a filter that is recognizably damaged answers "may contain".
// Damage that cannot be recognized (in the bits, in LevelDB's k) can lose keys; the engines'
// checksums catch it. FORMAT.md says which damage is recognized, and TESTING.md which test holds
// each promise.
//
// The false-positive rates assume that keys were not chosen by an adversary. The hashes are
// unkeyed: anyone can compute absent keys that collide with a known one, and who writes keys can
// choose which absent keys collide, as in the filters of LevelDB, RocksDB and Pebble. This costs
// reads, and never a key.
//
// FORMAT.md in this directory has the bytes of all encodings, with examples.
package policy
