/*
Command filterdump says which filters would serve a database best, and whether those that it has are
sound. It reads the databases of C++ LevelDB, goleveldb and Pebble:

	go run github.com/levelbloom/levelbloom/sstable/filterdump@latest DIRECTORY

It changes nothing and takes no lock, so the database may be in use. It reads all tables twice, and
then some 100,000 blocks. To verify filters only, also of single tables (.ldb, .sst), it reads the
tables once:

	filterdump --verify PATH...

--json lists all tables, and -h all flags.

For example, filterdump testdata/goleveldb/name2_none_1k prints:

	Nothing to do: all tables, 0.13 MiB, fit into the 8.0 MiB that the block cache
	has for them.

	- With goleveldb's default options, the block cache has 8.0 MiB, and lookups
	  need 1.0 MiB there.

	  level  tables  entries  MiB of filters  tables by filter
	     L0       1    3,300          0.0043  1 bloom

	Tables by the name of the filters' policy: 1 leveldb.BuiltinBloomFilter2

	1 table sound

# The verdict

The verdict on a database says which change saves reads, with the lines of code that the program
lacks. If no change saves a read in a hundred lookups of absent keys, there is nothing to do, unless
tables with more than one key in a hundred have no filter: then Rewrite is to be called.

What lookups read now is counted: the engine opens the tables read-only, with a copy of the manifest
in memory, and looks up absent keys that lie between keys of the database: neighbors of a random
sample if there are more than 131,072. More than 64 absent keys in a row count as 64. Of up to 1,024
parts of the keys, each is looked up as often as the others, if it has the absent keys. filterdump
counts the data blocks that the engine's own Get reads, that the adapter's Has reads, and that Get
reads without filters: each until there are 10,000, which have an error of 1 %. The block cache has
room for indexes and filters, and for hardly any data: for 1 MiB in Pebble, so in databases of a few
megabytes fewer reads are counted. What lookups would read with ribbon filters in the same tables is
computed, by policy.Policy.FPP for the number of keys in each filter. All filters in the tables are
used: a program whose options do not have their policy reads what is counted without filters.

Keys that are only in the log do not count, nor reads of present keys. The comparer must be the
engine's default one. To count in Pebble v1's tables with zstd, build with CGO_ENABLED=0.

# What is verified

A table is sound if every key that a filter covers matches it. It is unverified if its filters are
of an unknown kind or its keys are in doubt, corrupt if a checksum is wrong or the bytes contradict
each other, missing if the manifest names it and it is not there, and unreadable for the reason that
follows. Filters of an unknown name are taken for LevelDB's or levelbloom's if all keys match; if
not, they are a fault only if --policy names them. Filters of prefixes, as Pebble writes them for a
comparer with a Split of its own, are unverified: they are told from filters that lost keys by more
prefixes that match than chance explains, in all tables of a database together.

The tables of a database are those that its manifest names, with the sizes that it says. Others are
ignored: a killed process leaves some, and a database in use creates and deletes them. But the
manifest may be old, or cut off, if tables are newer than all named ones and their log is gone, or
if they are more than those that are named: that is status 2, unless the manifest changes meanwhile.
A log that Pebble keeps for reuse can hide that the last tables are not named. Pebble's files of
large values (.blob) are not verified, and RocksDB's tables are not supported: those of before 2020
that cannot be told from Pebble's are verified as such.

The engines trust bytes whose checksum is right. A table on which an engine's reader panics is
corrupt. Forged ones can also end filterdump, have it wait, or take memory: on Linux at most half of
it, or 2 GiB.

# Exit status

	0  all tables are sound, or have no filters
	1  a table has a false negative, is corrupt or is missing, or the manifest or CURRENT is
	   damaged, or CURRENT is missing beside a manifest and tables: the first line begins with
	   FAULTY
	2  something else could not be read or verified, such as a database that its engine refuses,
	   or the flags are wrong, or the report could not be written

go run ends with 1 in place of 2: scripts call what go install made.

# JSON

With --json, the report is an object. Sizes are in bytes, and what is read is data blocks for 1,000
lookups of absent keys.

	verdict  whether all is sound, as in the text
	paths    for each PATH
	  path, note, damaged     what could not be read, and whether the database is at fault
	  unnamed                 tables that are ignored
	  engine, cache           goleveldb, pebblev1 or pebblev2; its block cache without memtables
	  keys, unfiltered        of all tables; of those without filters
	  bytes, old              of all tables; of those without ribbon filters
	  sampled, lookups        keys of the sample, and absent keys between them: the most lookups
	  get, has, bare, ribbon  reads: by Get, by Has, without filters; computed for ribbon filters
	  levels, total           number, tables, entries, filter_bytes, ribbon_bytes
	    policies, filters     tables by policy, and by kind ("none", "no keys")
	  verdict                 sentence, code, facts
	    rows                  setup, reads, counted (or computed), filter_bytes
	  tables                  path, status, reason, size, index_bytes, entries, keys, policy
	    kinds                 how many filters there are of each kind
	    filter_bytes, ribbon_bytes, ribbon_fpp  as they are, and as ribbon filters would be
	    false_negatives, false_negative_keys    the first ten keys, in hexadecimal
*/
package main
