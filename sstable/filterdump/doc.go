/*
Command filterdump tells whether the filters of a database are sound, how well they work, and what
would work better. It reads the tables of C++ LevelDB, goleveldb, Pebble and RocksDB
(format_version 0 and 2).

To check a database, whether it is in use or not:

	filterdump -verify DIRECTORY

To see how well its filters work:

	filterdump [flags] PATH...

A PATH is a table file (.ldb, .sst) or a database directory, of which filterdump looks at the tables
but not at directories below. It changes nothing and takes no lock.

For example, filterdump testdata/goleveldb/name2_none_1k describes a table of goleveldb, with
a third of a numeric range as keys:

	1 table sound: all 3,300 entries match their filters

	testdata/goleveldb/name2_none_1k/000002.ldb
	  verification sound: all 3,300 entries match their filters
	  format       LevelDB, comparer leveldb.BytewiseComparator, 141,095 bytes
	  keys         3,300 entries of 3,000 keys, 8 bytes
	  policy       leveldb.BuiltinBloomFilter2, LevelDB Bloom
	  filters      65 and 0 empty, one for every 2,048 bytes of data (base_lg 11); 4,479 bytes in
	               all
	  bits         10.22 per key, k = 6; 40.1 % of them set, as by 2,839 keys
	  FPP          0.45 %, estimated from the bits that are set
	  FPR          11.82 % [11.03 to 12.66] of 5,998 absent keys between the table's own
	               0.65 % [0.59 to 0.71] of 65,536 absent keys of their shape beyond them
	               0.53 % [0.48 to 0.59] of 65,536 random bytes
	  advice       The filters are named leveldb.BuiltinBloomFilter2: C++ LevelDB looks for this
	               name; goleveldb does with levelbloom's Configure, or with a policy of this name
	               in Filter or AltFilters.
	  advice       The FPR is 11.8 % between your keys and 0.53 % for random ones, because LevelDB's
	               hash does not scatter keys that resemble each other. With policy.NewBlockedBloom
	               and 10.2 bits per key it would be about 0.78 % (only levelbloom reads them; C++
	               LevelDB and goleveldb's own policy answer "may contain" to every key).

The first line is the verdict. Then each table is described: at length if there are few, if it is
named as a PATH or with -long, else in a line. The FPR is that of absent keys that resemble the
table's own: between neighbors, where most lookups of absent keys fall; of the same shape, but below
the first key and above the last; and of random bytes. The brackets have intervals of 95 %
confidence. The advice follows from what was found in this table.

To see how the filters answer for one key, probe by probe, pass -key. For large databases, -sample
looks at only some tables. -help lists all flags.

# Exit status

With -verify:

	0  every key that a filter covers matches it; tables without filters have nothing to verify
	1  a table has a false negative, or is corrupt
	2  not all could be verified: a PATH or a table could not be read, is of an unknown format,
	   policy or encoding, or is unfinished

Without -verify it is 2 if there was nothing to look at, and 0 otherwise.

A database writes a table under its final name, and the end that makes it a table last. So a table
without an end is corrupt only if it has not changed in the last 10 seconds. In a directory with a
MANIFEST, filterdump looks at it again until it has its end, is deleted, or has not changed for 10
seconds. A table elsewhere, one that is named as a PATH, and one that was changed in the future, are
unfinished: they may be what is left of a broken copy.

Pebble's own reader reads the tables of Pebble and RocksDB, each in a process of its own, because it
trusts bytes whose checksum is right. If it crashes, a table of Pebble is corrupt.

# JSON

With -json, the report has these fields. Rates and parts are fractions, sizes are bytes. Fields that
do not apply are left out, except for those marked *.

	verdict*      the first line of the text
	paths*        for each PATH:
	  path*
	  note                         why there are no tables
	  tables*                      number of tables by status
	  left_out*                    tables that -sample left out
	  policies                     number of tables by the policy's name of their filters
	  encodings                    number of filters by encoding: "LevelDB Bloom", "blocked Bloom",
	                               "Pebble Bloom", "unknown"
	  size*, entries*, keys*, filter_bytes*   sums over the tables
	tables*       for each table:
	  path*
	  status*                      sound, no filter, unverified, false negative, corrupt,
	                               unsupported (it cannot be read here), unreadable (the system
	                               does not let it be read), unfinished, vanished (deleted)
	  reason                       for the status
	  format, size, comparer       comparer only where the table or its manifest names it
	  policy                       name under which the filters are stored
	  layout, base_lg              "window": a filter per 2^base_lg bytes of data; "table": one
	  other_filters                policies of further filters, which were not looked at

and if the table could be read:

	entries, keys                point entries; those whose key differs from the one before. A key
	                             is what the filters know: with a Split, its prefix
	entries_without_filter       entries that no filter covers
	key_shape                    the lengths of the keys
	filters, empty_filters       filters with keys and without
	saturated_filters            filters whose bits are all set
	filter_bytes                 size of the filter block
	bits_per_key, keys_per_filter
	probes                       the values of k
	fill                         part of the bits that are set
	distinct_keys_estimated, fpp_estimated   from the bits that are set
	fpr_between, fpr_beyond, fpr_random      measured rates: asked and passed (numbers of keys),
	                             rate, low and high (the bounds of the interval)
	fpr_between_unasked, fpr_beyond_unasked  why there is none
	trials                       other settings: encoding, bits_per_key, base_lg, fpr_between,
	                             fpr_random
	verified, unverified         whether all covered entries were compared; why not
	encodings                    number of filters by encoding
	malformed                    number of filters by what is wrong with them
	false_negatives              number of entries that their filter does not match
	false_negative_keys          the first ten of their keys, in hexadecimal
	advice                       sentences
*/
package main
