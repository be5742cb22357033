package tables

import "fmt"

// bytewise is the name of LevelDB's, RocksDB's and Pebble's default comparer, under which filters know whole keys.
const bytewise = "leveldb.BytewiseComparator"

// unknownPrefixRule says why filters may not know whole keys, by the properties that RocksDB and Pebble note: with another
// comparer (Pebble), or a prefix extractor and no whole keys beside the prefixes (RocksDB). It is empty if they know them.
func unknownPrefixRule(properties map[string]string) string {
	if c := properties["rocksdb.comparator"]; c != "" && c != bytewise {
		return fmt.Sprintf("the comparer %s is not known here, and with it the part of a key that filters know", c)
	}
	// Pebble v1 notes a comparer with a Split as an extractor, also if the comparer has the default's name.
	switch extractor := properties["rocksdb.prefix.extractor.name"]; {
	case extractor == "" || extractor == "nullptr":
	case properties["rocksdb.block.based.table.whole.key.filtering"] == "1":
	default:
		return fmt.Sprintf("the filters know the prefixes of keys that %s extracts, which is not known here", extractor)
	}
	return ""
}
