/*
Command filterdump says whether the filters of a database are sound, and which filters would serve
it best. It reads the tables of C++ LevelDB, goleveldb and Pebble.

To learn what filters are worth to a database, in some seconds:

	filterdump DIRECTORY

To verify the filters only:

	filterdump --verify PATH...

A PATH is a database directory or a table file (.ldb, .sst). Subdirectories are not searched.
filterdump changes nothing and takes no lock, so the database may be in use. -h lists all flags.

For example, filterdump testdata/goleveldb/name2_none_1k prints, for a table of goleveldb whose 3000
keys are a third of a numeric range, a tenth of them deleted later:

	1 table sound: all 3300 entries match their filters

	testdata/goleveldb/name2_none_1k
	  table       policy                       encoding       entries  bits/key  verification
	  000002.ldb  leveldb.BuiltinBloomFilter2  LevelDB Bloom  3300     10.2      sound

	  Too few keys: any filter does.
	  - Counted with 5998 absent keys between 2999 of yours: each lies in the range of 1.0 tables.
	    For 1,000 of them, the engine's own Get reads 118 data blocks, and without filters 1000. For
	    1,000 keys of random bytes it reads 0, for keys beyond yours none.
	  - 1 of 1 tables have filters, of 0.0045 MB; ribbon filters in all would have 0.0047 MB
	    (computed). Filters and indexes, together 0.008 MB, need a block cache of 0.016 MB or more,
	    besides the data: BlockCacheCapacity, by default 8.4 MB.

The first line says whether all filters are sound. Each table follows with its status, and with the
reason if it is not sound. The report on a directory ends with a verdict.

# The verdict

The verdict says which change saves reads, with at most three lines of code. If no change saves a
read in a hundred lookups, it says to keep the filters. It compares the data blocks that lookups of
absent keys read, since filters save no other reads.

Counted: filterdump takes absent keys that lie between keys of the database. The manifest says which
tables have such a key in their range, and filterdump consults the filters of these tables. So it
knows which data blocks the engine's own Get reads, and which ones Has of package adapters/pebblev2
reads, which also consults the filters in L6. No engine runs. In a database of more than 131,072
keys, the absent keys are neighbors of a random sample. A gap of more than 64 absent keys counts as
one of 64. Indexes and filters are assumed to be in memory, data blocks are not: in a large cache
the blocks of small tables stay, and the engine reads less.

Computed: what lookups would read with ribbon filters in the same tables, by policy.Policy.FPP for
the number of keys in each filter, and how much memory these filters would take. Simulated: what
lookups would read with tuned filters, which are built from the keys of the tables and consulted
about the same absent keys.

Command bench compares engines and filters in databases that it fills with your keys: it simulates.

# Status of a table

	sound           every key that a filter covers matches it
	no filter       there is nothing to verify
	unverified      its policy, encoding or comparer is unknown
	false negative  a key does not match its filter
	corrupt         a checksum is wrong, or the bytes contradict each other
	unsupported     its format is unknown, or it would take too much memory or time
	unreadable      it is not a table, or the system does not let it be read
	unfinished      its end is missing, but it changed in the last 10 seconds
	vanished        the database has deleted it since the manifest was read

In a directory with a manifest, filterdump reads the tables that the manifest names, and counts the
others: a killed process leaves tables, and a database in use creates and deletes them.

In LevelDB's format, a block of more than 256 MiB uncompressed is unsupported, and so is one whose
keys add up to more than that, or to more than 256 times its size. In Pebble's, a table is whose
blocks add up to more than 4 GiB plus 64 times the file's size. RocksDB's own tables are supported if
they share a format and a kind of filter with old Pebble's.

Pebble's reader trusts bytes whose checksum is right, so it runs in processes of its own. If it
crashes, the table is corrupt. If it takes longer than 20 seconds and a second per MiB, the table is
unsupported.

The filters of a policy with a name of its own are unverified. If they have LevelDB's encoding or
one of levelbloom's, pass --bloom NAME.

# Exit status

	0    all tables are sound, without filters or vanished
	1    a table has a false negative or is corrupt: the first line begins with FAULTY
	2    something else could not be verified, or the flags are wrong, or the report could not be
	     written
	130  filterdump was interrupted (by SIGINT, SIGTERM or SIGHUP) and wrote no report

# JSON

With --json, the report is an object with the first line as verdict, the PATHs as paths, each with
the figures of its verdict, and all tables as tables, each with path, status, reason, and what is
known about its keys and filters. Sizes are in bytes, and rates are fractions.
*/
package main
