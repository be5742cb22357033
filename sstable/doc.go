// Package sstable reads the tables of C++ LevelDB and goleveldb, and builds and reads the filter
// block in them. To see what is in a file, and what is wrong with it:
//
//	t, err := sstable.OpenTable(file, size)
//	...
//	for _, f := range t.Filters() { // f.Policy is the name of its policy
//		filter, err := t.OpenFilter(f)
//		...
//		may := filter.MayContain(key)
//	}
//	for e, err := range t.Entries() { // reads and checks all data
//		...
//	}
//
// To write filter blocks in an engine of your own, and to read them: [NewFilterBlockBuilder] and
// [NewFilterBlockReader]. To check a whole database, use command filterdump, in a directory below
// this one.
//
// No bytes make the package panic. It changes no files.
//
// # The filter block
//
// A table keeps one filter for every window of 2^base_lg bytes of its data blocks; base_lg is 11
// unless set otherwise. A data block belongs to the window in which it begins, and all of its keys
// to that window's filter.
//
//	filter of window 0, of window 1, ... ; 0 bytes for a window in which no block begins
//	offset of each filter, 4 bytes
//	offset of these offsets, 4 bytes, which is the end of the last filter too
//	base_lg, 1 byte
//
// Integers are little-endian. With one 9-byte filter (LevelDB's for one key at 10 bits) in each of
// the windows 0 and 2:
//
//	00  ff ff ff ff ff ff ff ff 06    window 0
//	09  ff ff ff ff ff ff ff ff 06    window 2
//	12  00 00 00 00                   window 0 begins at 0
//	16  09 00 00 00                   window 1 begins at 9 and ends there: empty
//	1a  09 00 00 00                   window 2 begins at 9
//	1e  12 00 00 00                   the offsets begin at 0x12, where window 2 ends
//	22  0b                            windows of 2^11 bytes
//
// A block is well formed if it has these 5 last bytes, base_lg is at most 63, the first filter
// begins at 0, no filter ends before it begins, and the offsets fill the space between the filters
// and their end. A reader answers
//
//	"may contain"   for everything in a block that is not well formed
//	"may contain"   for windows after the last filter
//	"absent"        for a window whose filter is empty: every policy's filter of a key has
//	                bytes, so no block begins there
//	the policy's    otherwise
//
// C++ LevelDB and goleveldb also answer "absent" if two equal offsets lie beyond the filters, which
// only a damaged block has.
//
// # The table
//
//	data blocks
//	filter block   if there is one
//	metaindex      a block with an entry for each of these blocks: its name -> its handle. The
//	               name of the filter block is "filter." and the policy's name
//	index          a block with an entry for each data block: a key that is at least the block's
//	               last one, and below the next block's first -> the block's handle
//	footer         48 bytes: the handles of metaindex and index, zeros up to byte 40, magic number
//
// A handle is the offset and the length of a block as varints. After a block, the file has one byte
// for its compression (0 none, 1 snappy), and the CRC-32C of the block and this byte, masked:
// rotated right by 15 bits, plus 0xa282ead8. The length counts neither. The metaindex, the index
// and the data blocks consist of entries; the filter block does not.
//
//	entry   shared, unshared, length of the value (varints); unshared bytes of the key; the value.
//	        The key is the first `shared` bytes of the key before, and the unshared bytes
//	tail    offsets of the restarts, 4 bytes each; their number, 4 bytes. A restart is an entry
//	        with shared = 0; the first entry always is one
//
// The keys of a database are internal: the user's key and a trailer of 8 bytes, little-endian,
// sequence number * 256 + type (0 deletion, 1 value). Filters have user keys only. A table that was
// written without a database may have plain keys, and does not say so. Keys are read as internal
// if all in the index and in the first data block have at least 8 bytes, and most can be internal:
// their last 8 bytes are a deletion or a value with a sequence number above 0, and the sequence
// numbers of equal user keys decrease. Text is never mistaken for internal keys, big-endian numbers
// rarely, other shapes possibly. For tables of a database, [WithInternalKeys] leaves nothing to
// infer.
//
// The sources are LevelDB's doc/table_format.md and, for what it leaves out, table/format.cc,
// table/block_builder.cc, table/block.cc and table/filter_block.cc of release 1.23.
package sstable
