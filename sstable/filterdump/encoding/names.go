package encoding

import "github.com/levelbloom/levelbloom/policy"

// ByName returns the encoding of the filters that engines store under the name of a policy. known is false if the name
// tells nothing about the encoding; e is nil then.
func ByName(name string) (e Encoding, known bool) {
	switch name {
	case policy.Name, policy.NameGoLevelDB:
		return LevelDB, true
	case "rocksdb.BuiltinBloomFilter":
		return PebbleBloom, true
	}
	return nil, false
}
