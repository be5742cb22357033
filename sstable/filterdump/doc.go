/*
Command filterdump tells whether the filters of a database are sound, and which filters would serve
it best. It reads the tables of C++ LevelDB, goleveldb and Pebble.

To see what filters are worth to a database, in some seconds:

	filterdump DIRECTORY

To check a database or a table:

	filterdump -verify PATH...

A PATH is a table file (.ldb, .sst) or a database directory: filterdump looks at the tables in it,
not in its subdirectories. It changes nothing and takes no lock, so the database may be in use.

For example, filterdump testdata/goleveldb/name2_none_1k describes a table of goleveldb, with
a third of a numeric range as keys:

	1 table sound: all 3,300 entries match their filters

	testdata/goleveldb/name2_none_1k/000002.ldb
	  verification sound: all 3,300 entries match their filters
	  format       LevelDB, comparer leveldb.BytewiseComparator, 141,095 bytes
	  keys         3,300 entries of 3,000 keys
	  policy       leveldb.BuiltinBloomFilter2, LevelDB Bloom
	  filters      65 and 0 empty, one for every 2,048 bytes of data (base_lg 11); 4,479 bytes in
	               all
	  bits         10.22 per key

	testdata/goleveldb/name2_none_1k
	  Too few keys: any filter does.
	  - Counted with 5998 absent keys between 2999 of yours: each lies in the range of 1.0 tables.
	    For 1,000 of them, the engine's own Get reads 118 data blocks, and without filters 1000. Of
	    1,000 keys of random bytes it reads 0, of keys beyond all yours none.
	  - 1 of 1 tables have filters, of 0.0045 MB; ribbon filters in all would have 0.0047 MB
	    (computed). Filters and indexes, together 0.008 MB, need a block cache of 0.016 MB or more,
	    besides the data: BlockCacheCapacity, by default 8.4 MB.

The first line says whether all is sound. Then each table is described: at length if there are few
or if it is named as a PATH, else in a line, with sums at the end. Names that are not printable are
written with escapes.

To see how the filters answer for one key, probe by probe, pass -key. -help lists all flags.

# What filters are worth

For a directory, the report ends with a verdict: what to do, and at most three lines of code. It
compares reads of data blocks for lookups of absent keys, since filters avoid no others. Where other
filters would save few reads, it says to keep what there is.

Counted: filterdump takes absent keys that lie between keys of the database. The manifest says which
tables have such a key in their range, and the filters of these tables are consulted. So it knows
which data blocks the engine's own Get reads, which with Pebble consults no filter in L6, and which
ones Has of package adapters/pebblev2 reads. No engine runs. In a database of more than 131,072
keys, the absent keys are neighbors of a random sample. A gap of more than 64 absent keys counts as
one of 64. Indexes and filters are taken to be in memory, data blocks are not.

Computed: what lookups would read with ribbon filters in the same tables, by policy.Ribbon.FPP for
the number of keys in each filter, and what memory these filters would take. Simulated: what lookups
would read with tuned filters, which are built from the keys of the tables and consulted about the
same absent keys.

To compare engines and filters in databases that are filled anew with your keys, use command bench:
it simulates.

# Exit status

	0    every key that a filter covers matches it; tables without filters, and those that the
	     database has deleted, have nothing to verify
	1    a table has a false negative, or is corrupt: the verdict begins with FAULTY
	2    not all could be verified: a PATH or a table could not be read, is not a table, is of an
	     unknown format, policy or encoding, or is unfinished; or the flags are wrong, or the report
	     cannot be written
	130  filterdump was interrupted (by SIGINT, SIGTERM or SIGHUP); it then writes no report

In a directory with a manifest, filterdump looks at the tables that the manifest names, and counts
the others: a killed process leaves tables behind, and a database that is in use writes new ones and
deletes old ones. Elsewhere, a file without a table's end is unfinished if it changed in the last 10
seconds or its time lies in the future, and otherwise corrupt. If its name is not that of a table
either (.ldb, .sst), it is unreadable.

In a table of LevelDB's format, a block of more than 256 MiB uncompressed is not read, nor is one
whose keys add up to more than that, or to more than 256 times its size: such a table is
unsupported. Otherwise a small file could take all memory and time.

Pebble's own reader reads the tables of Pebble in processes of their own, because it trusts
bytes whose checksum is right. If it crashes or takes too long on a table (20 seconds, and one for
each MiB), the table is reported as corrupt. A table whose blocks have more than 4 GiB and 64 times
the file's size uncompressed is unsupported. Of RocksDB's own tables it reads those that share a
format and a kind of filter with old Pebble's; the others are unsupported.

# JSON

With -json, the report has these fields. Rates and parts are fractions, sizes are bytes. Fields that
do not apply are left out, except for those marked *.

	verdict*      the first line of the text
	paths*        of each PATH: path*; note, why it could not be looked at; unnamed, the number of
	              tables that the manifest does not name; verdict, as package verdict documents it
	total*        of all tables:
	  tables*                      number of tables by status
	  policies, encodings          number of tables by their filters' policy, of filters by encoding
	  size*, entries*, keys*, filter_bytes*, index_bytes*    sums
	  bits_per_key*                the mean of the tables with filters
	tables*       for each table:
	  path*
	  status*, reason              sound, no filter, unverified, false negative, corrupt,
	                               unsupported (it cannot be read here), unreadable (it is no
	                               table, or the system does not let it be read), unfinished,
	                               vanished (deleted)
	  format, size, comparer       comparer only where the table or its manifest names it
	  policy, other_filters        names of the policies of the filters looked at, and of others
	  layout, base_lg              "window": a filter per 2^base_lg bytes of data; "table": one
	  filter_bytes, index_bytes    size of the filter block, and of the index

and if the table could be read:

	entries, keys                point entries; those whose key differs from the one before. A key
	                             is what the filters know: with a Split, its prefix
	entries_without_filter       entries that no filter covers
	filters, empty_filters       with keys, without
	bits_per_key, keys_per_filter
	ribbon_10, ribbon_7          what policy.NewRibbon would make of the keys: bytes, fpp
	disordered                   whether the keys are not in bytewise order
	verified, unverified         whether all covered entries were compared; why not
	encodings                    number of filters by encoding ("LevelDB Bloom", "ribbon", "Pebble
	                             Bloom", "unknown")
	false_negatives              number of entries that their filter does not match
	false_negative_keys          the first ten of their keys, in hexadecimal
*/
package main
