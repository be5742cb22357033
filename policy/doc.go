// Package policy builds and reads the Bloom filters of LevelDB, byte for byte as C++ LevelDB does,
// and filters of encodings of our own.
//
// A storage engine keeps a filter beside each table. The filter answers "may contain" for every key
// that was added to it, always. For other keys it answers "absent", except for a small share of
// false positives. A lookup that the filter answers "absent" reads no data.
//
// A [Policy] builds filters and reads them. [NewBloom] returns the one that C++ LevelDB calls
// NewBloomFilterPolicy. [NewBlockedBloom] returns one whose lookups are faster, and whose rate of
// false positives does not depend on the shape and number of the keys. Readers other than this
// package answer "may contain" to its filters.
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
// No reader ever panics or loses a key because of the bytes in a filter's trailer: in doubt it
// answers "may contain". Flipped bits in the rest of a filter can lose keys; engines guard filters
// with checksums.
//
// The rates of false positives hold for keys that nobody chose against the hash. The hashes have no
// secret, so whoever chooses keys can make any absent key a false positive, as in the filters of
// LevelDB, RocksDB and Pebble. This costs reads, and never a key.
//
// FORMAT.md in this directory has the bytes of all encodings, with examples.
package policy
