// Package policy builds and reads the Bloom filters of LevelDB, byte for byte as C++ LevelDB does,
// and ribbon filters, which have an encoding of our own.
//
// A storage engine keeps a filter beside each table. The filter answers "may contain" for every key
// that was added to it, always. For other keys it answers "absent", except for a small share of
// false positives. A lookup that the filter answers "absent" reads no data.
//
// A [Policy] builds filters and reads them. [NewBloom] returns the one that C++ LevelDB calls
// NewBloomFilterPolicy; [WithTuning] lowers its rate of false positives for dense numbers, and all
// readers of LevelDB's filters read the result. [NewRibbon] returns one whose filters are smaller,
// and take longer to build. Their rate of false positives does not depend on the shape of the keys.
// Readers other than this package answer "may contain" to them.
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
// package, whatever its bits per key. So one database may have several kinds. [MayContainMany] asks
// one filter about many keys. [Count] counts what a policy does, and [Parse] shows what is in a
// filter.
//
// # What is promised
//
// No bytes make a reader panic, and a filter that is recognizably damaged answers "may contain".
// Damage that cannot be recognized (in the bits, in LevelDB's k) can lose keys; the engines'
// checksums catch it. FORMAT.md says which damage is recognized.
//
// The rates of false positives hold for keys that nobody chose by their hashes. The hashes have no
// secret: anyone can compute absent keys that collide with a known one, and whoever writes keys can
// choose which absent keys collide, as in the filters of LevelDB, RocksDB and Pebble. This costs
// reads, and never a key.
//
// FORMAT.md in this directory has the bytes of all encodings, with examples.
package policy
