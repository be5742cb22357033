/*
Command filterdump says whether the filters of a database are sound, and which filters would serve
it best. It reads the databases of C++ LevelDB, goleveldb and Pebble.

To learn what filters are worth to a database, in some seconds:

	filterdump DIRECTORY

To verify the filters only, also of single tables (.ldb, .sst):

	filterdump --verify PATH...

filterdump changes nothing and takes no lock, so the database may be in use. --tables lists all
tables, --page FILE writes a page for a browser, and -h lists all flags.

For example, filterdump testdata/goleveldb/name2_none_1k prints:

	1 table sound: all 3300 entries match their filters

	testdata/goleveldb/name2_none_1k
	  Nothing to do: with so few keys, any filter does.

	  level  tables  entries  MB of filters  filters          policy
	  L0     1       3300     0.0045         1 LevelDB Bloom  1 leveldb.BuiltinBloomFilter2

The first line says whether all filters are sound. Tables whose filters are not sound follow, each
with the reason.

# The verdict

The verdict on a database says which change saves reads, with the lines of code. If no change saves
a read in a hundred lookups, there is nothing to do. The verdict compares how many data blocks
lookups of absent keys read. Filters also save reads of present keys in lower levels; it does not
count these.

What lookups read now is counted. The engine opens the tables read-only, with a copy of the manifest
in memory. It looks up absent keys that lie between keys of the database: neighbors of a random
sample if there are more than 131,072. More than 64 absent keys in a row count as 64. filterdump
counts the blocks that the engine's own Get reads, those that the adapter's Has reads, and those
that Get reads without filters: each until there are 10,000, which have an error of 1 %. The block
cache has room for indexes and filters, and for hardly any data: with a larger one, the engine reads
less.

What lookups would read with ribbon filters in the same tables is computed, by policy.Policy.FPP for
the number of keys in each filter, and so is the memory that these filters would take.

Keys that are only in the log do not count. The comparer must be the engine's default one.

# Status of a table

	sound           every key that a filter covers matches it
	no filter       there is nothing to verify
	unverified      its policy, encoding or comparer is unknown, or its keys are in doubt
	false negative  a key does not match its filter
	corrupt         a checksum is wrong, or the bytes contradict each other
	missing         the manifest names it, and it is not there
	unreadable      it is no table, or cannot be read here: the reason says why

The tables of a database are those that its manifest names. Others are left out: a killed process
leaves some, and a database in use creates and deletes them. If more tables are left out that are
newer than all named ones than are named, the manifest may be an old one, and there is no verdict.

A table has the bytes that the manifest says, and more may follow. By itself, a table ends where its
file does. That a table is the one that the manifest means is compared by its size, and not by its
contents. Pebble's files of large values (.blob) and tables in shared storage are not verified.

The engines trust bytes whose checksum is right. A table on which an engine's reader panics is
corrupt. Forged ones can also end filterdump, or have it wait: interrupt it twice then. On Linux,
filterdump maps at most half of the memory of the machine or of the container, or 2 GiB if that is
more. RocksDB's own tables are read if they share a format, a compression and a kind of filter with
old Pebble's.

The filters of a policy with a name of its own are unverified. If they are LevelDB's or
levelbloom's, pass --policies NAME, or a pattern: a database with a policy for each level has
several names.

# Exit status

	0    all tables are sound, or have no filters
	1    a table has a false negative, is corrupt or is missing, or the manifest or CURRENT is
	     damaged: the first line begins with FAULTY
	2    something else could not be read or verified, or the flags are wrong, or the report could
	     not be written
	130  filterdump was interrupted (by SIGINT, SIGTERM or SIGHUP) and wrote no report

# JSON

With --json, the report is an object. Sizes are in bytes, and what is read is data blocks for 1,000
lookups of absent keys.

	verdict  the first line
	paths    for each PATH
	  path, note, damaged  what could not be read, and whether the database is at fault
	  unnamed              tables that are left out
	  engine               goleveldb, pebblev1, pebblev2
	  cache                bytes of the block cache, by Pebble's OPTIONS file
	  keys, bytes          of all tables; a key counts once in each
	  sampled, lookups     keys of the sample, and absent keys between them: the most lookups
	  levels               number, tables, entries
	    policies, filters           by policy, and by encoding ("none" without filters, "no keys")
	    filter_bytes, ribbon_bytes  of the filters, and computed for ribbon filters of 10 bits
	    get, has, bare, ribbon      counted: by Get, by Has, without filters; computed
	  verdict              sentence, code, facts
	    rows                        compared: setup, reads, counted (or computed), filter_bytes
	  tables
	    path, status, reason
	    format, size, comparer, index_bytes
	    policy, layout, base_lg, filter_bytes  which keys share a filter: a window of 2^base_lg
	                                           bytes, or a table
	    entries, keys, entries_without_filter
	    filters, empty_filters, encodings, bits_per_key
	    ribbon_10                              bytes and fpp of ribbon filters for the same keys
	    false_negatives, false_negative_keys   the keys in hex, at most ten
*/
package main
