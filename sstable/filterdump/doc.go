/*
Command filterdump tells whether the filters of a database are sound and how well they work. It
reads the tables of C++ LevelDB, goleveldb and Pebble.

To check a database, whether it is in use or not:

	filterdump -verify DIRECTORY

To see how well its filters work:

	filterdump [flags] PATH...

A PATH is a table file (.ldb, .sst) or a database directory: filterdump looks at the tables in it,
not in its subdirectories. It changes nothing and takes no lock.

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
	  bits         10.22 per key, k = 6; 40.1 % of them set
	  FPP          0.45 % for random keys, estimated from the filters alone
	  FPR          11.82 % [11.03 to 12.66] of 5,998 absent keys between the table's own

	The keys suit policy.NewRibbon, whose filters only levelbloom reads, or policy.WithTuning, whose
	filters every reader of LevelDB's reads. What that is worth: go run
	github.com/levelbloom/levelbloom/bench@latest --keys DIRECTORY

The first line is the verdict. Then each table is described: at length if there are few or if it is
named as a PATH, else in a line, with sums at the end. The FPP is estimated from the filters' bits:
random keys have about that many false positives, with Pebble's own filters somewhat more. The FPR
is measured with absent keys between the table's own, because engines ask only about those; in
brackets is its 95 % confidence interval. In sums it is the mean of the tables', weighted by their
keys. The advice comes if the FPR is clearly above the FPP. With -verify, no FPR is measured. Names
that are not printable are written with escapes.

To see how the filters answer for one key, probe by probe, pass -key. -help lists all flags.

# Exit status

	0    every key that a filter covers matches it; tables without filters, and those that the
	     database has deleted, have nothing to verify
	1    a table has a false negative, or is corrupt: the verdict begins with FAULTY
	2    not all could be verified: a PATH or a table could not be read, is not a table, is of an
	     unknown format, policy or encoding, or is unfinished; or the flags are wrong, or the report
	     cannot be written
	130  filterdump was interrupted (by SIGINT, SIGTERM or SIGHUP); it then writes no report

A database writes a table under its final name, and the end of it last. So a file without a table's
end is unfinished if it changed in the last 10 seconds or its time lies in the future; otherwise it
is corrupt. In a directory with a MANIFEST, filterdump looks at an unfinished file again, for at
most a minute, until the file has its end, is deleted, or has not changed for 10 seconds. A process
that is killed leaves the tables that it was writing; they are reported as corrupt until the next
process that opens the database deletes them. A file without a table's end whose name is not that of
a table either (.ldb, .sst) is unreadable.

In a table of LevelDB's format, a block of more than 256 MiB uncompressed is not read, nor is one
whose keys add up to more than that, or to more than 256 times its size: such a table is
unsupported. Otherwise a small file could take all memory and time.

Pebble's own reader reads the tables of Pebble, each in a process of its own, because it trusts
bytes whose checksum is right. If it crashes or takes too long on a table, the table is reported as
corrupt. Of RocksDB's own tables it reads those that share a format and a kind of filter with old
Pebble's; the others are unsupported.

# JSON

With -json, the report has these fields. Rates and parts are fractions, sizes are bytes. Fields that
do not apply are left out, except for those marked *.

	verdict*      the first line of the text
	paths*        path* and note of each PATH: note says why it could not be looked at
	total*        of all tables:
	  tables*                      number of tables by status
	  policies, encodings          number of tables by their filters' policy, of filters by encoding
	  size*, entries*, keys*, filter_bytes*          sums
	  bits_per_key*, fpp_estimated*, fpr_between*    means over the tables with filters
	tables*       for each table:
	  path*
	  status*, reason              sound, no filter, unverified, false negative, corrupt,
	                               unsupported (it cannot be read here), unreadable (it is no
	                               table, or the system does not let it be read), unfinished,
	                               vanished (deleted)
	  format, size, comparer       comparer only where the table or its manifest names it
	  policy, other_filters        names of the policies of the filters looked at, and of others
	  layout, base_lg              "window": a filter per 2^base_lg bytes of data; "table": one
	  filter_bytes                 size of the filter block

and if the table could be read:

	entries, keys                point entries; those whose key differs from the one before. A key
	                             is what the filters know: with a Split, its prefix
	entries_without_filter       entries that no filter covers
	filters, empty_filters       with keys, without
	bits_per_key, keys_per_filter
	probes, fill                 the values of k; part of the bits that are set (not of ribbon)
	fpp_estimated                from the filters alone
	fpr_between                  measured: asked and passed (numbers of keys), rate, low and high
	fpr_between_unasked          why it was not measured
	verified, unverified         whether all covered entries were compared; why not
	encodings                    number of filters by encoding ("LevelDB Bloom", "LevelDB Bloom,
	                             tuned", "ribbon", "Pebble Bloom", "unknown")
	false_negatives              number of entries that their filter does not match
	false_negative_keys          the first ten of their keys, in hexadecimal
*/
package main
