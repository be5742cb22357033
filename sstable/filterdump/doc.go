// Command filterdump shows the filters in real tables, and verifies them: those of C++ LevelDB, goleveldb, Pebble and RocksDB.
//
//	filterdump [flags] PATH...
//
// A PATH is a table file or a directory of a database, whose tables (.ldb, .sst) are looked at; directories below it are not.
// Nothing is changed and no lock is taken, so the database may be in use (but Windows does not delete a file that is
// being read): a table that it deletes meanwhile is counted and left out, and so is one that it writes, which has no end yet and
// has changed in the last 10 seconds.
//
// The first line of the output is the verdict. Then each table is described, at length if there are few, else in a line: the
// filters and their setting, what their bits tell, whether every key of the table matches, and how many absent keys pass. Absent
// keys are made from the table's own: between neighbours, in their shape, as lookups of absent keys are in practice; beyond the
// last and the first; and random bytes. The advice is computed from the same table.
//
// -key shows how each table's filter answers for one key, probe by probe: the bits, or the cells and the fingerprint. -map
// draws how dense the parts of the filters are. -json writes the report for programs.
//
// Under the names of LevelDB's policy, each filter tells its encoding by its last byte. A filter of an encoding, or of a
// version, that is not known here may contain every key, and its table is unverified.
//
// Binary fuse filters have cells, and no bits that keys set: nothing is dense, and nothing tells how many keys there are. How
// many absent keys pass, the length of the fingerprints tells.
//
// The exit status is 2 if there was nothing to look at. With -verify it is
//
//	0  every key that a filter covers matches it; tables without filters have nothing to verify
//	1  a table has a false negative, or is corrupt
//	2  a PATH or a table could not be read, or the keys of a table not be compared with its filters
//
// # JSON
//
// Names stay; new ones may come. Rates and parts are fractions, sizes are bytes. Fields that do not apply are left out, those
// marked * are always there.
//
//	verdict*      the first line of the text
//	paths*        for each PATH:
//	  path*, note                     note: why there are no tables
//	  tables*                         how many tables came out as what (see status)
//	  left_out*                       tables that -sample left out
//	  policies                        how many tables have filters under which name
//	  encodings                       how many filters have which encoding: "LevelDB Bloom", "Pebble Bloom", "blocked Bloom,
//	                                  version 1", "binary fuse, version 1", "unknown encoding 0x51", "blocked Bloom of unknown
//	                                  version 2"
//	  size*, entries*, keys*, filter_bytes*
//	tables*       for each table:
//	  path*
//	  status*                         sound, no filter, unverified, false negative, corrupt, unsupported, unreadable, vanished
//	                                  (deleted meanwhile), unfinished (being written)
//	  reason                          why it is not sound
//	  format, size, comparer          as the file has them; the comparer only where the table names it
//	  policy, layout, base_lg         name on disk; "window", a filter for every 2^base_lg bytes of data, or "table"
//	  presumed                        the name does not tell the encoding, which was tried on the keys
//	  other_filters                   names of further filters in the table, which were not looked at
//	  encodings, encoding             how many of its filters have which encoding; the same in words
//	  and the other fields of the analysis, see `go doc github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis.Report`
package main

