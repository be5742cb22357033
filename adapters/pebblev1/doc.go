// Package pebblev1 gives Pebble v1 (github.com/cockroachdb/pebble) LevelDB's Bloom filters.
//
// [Configure] sets one policy on a database's options, [ConfigureLevels] one per level. [New] is the bare
// pebble.FilterPolicy for everything else that takes one: sstable.WriterOptions, the Filters of sstable.ReaderOptions,
// Pebble's tools. [ByName] finds the policies again when an options file is parsed.
//
// # Tables find their filter by name
//
// Pebble writes one filter per table, over the prefixes of the keys that the comparer's Split gives (the whole keys by
// default), and stores the policy's name beside it. A reader looks the name up in Options.Filters; a filter of a name
// that is not there is ignored without a word, and the table is read as if it had none. So no key is ever lost to an
// unknown name, and every name that is still on disk needs an entry: Configure adds them. Reading needs no setting, so
// policies with different bits per key may share a name.
//
// # Exact, blocked and binary fuse filters
//
// policy.NewBloom makes LevelDB's own filters, policy.NewBlockedBloom and policy.NewBinaryFuse those of encodings in the range
// that LevelDB keeps for new ones. All may be in one database, under one name or several, also by level, and each policy reads
// all. Only names of their own tell them apart in options files and in [FiltersOnDisk]. A reader that knows LevelDB's encoding
// alone answers "may contain" to every key of a blocked or binary fuse filter: it loses no key, and avoids no read.
//
// A compaction moves a table as it is if nothing overlaps it in the level below. So a level may have filters of the one above.
//
// # L6 has no filter unless asked for
//
// The last level, L6, holds most of the data, and its filters would take most of the memory. DB.Get never asks them;
// iterators do in SeekPrefixGE with IterOptions.UseL6Filters, which takes a comparer with a Split; the default one has
// none. Configure leaves L6's filters out; [WithL6] keeps them.
//
// # Taking over a live database, and leaving
//
// Call Configure on the options that the database was opened with, as the last step before pebble.Open. Tables on disk
// keep their filters, Pebble's own among them, and are asked through Options.Filters; tables written from now on get
// filters of the new policy. Compactions replace the old ones over time.
//
// To leave, open the database with the former options. Tables with filters of the policy, whatever their encoding, are then
// read without a filter until compactions have rewritten them; no key is lost. Pebble's tools work on all these databases, and
// ask the filters of the policies that they are given: tool.New(tool.Filters([New](p))).
//
// # Changing settings on a live database
//
// Close it, Configure its options with the new policy, and open it. From then on tables get the new filters; those on
// disk keep theirs:
//
//   - More or fewer bits per key, another encoding of package policy, under the same name: the old filters are asked as
//     before. Each carries its setting.
//   - Another name: the old filters are asked through Options.Filters, where Configure keeps the policies that the
//     options had. Options that are made anew know the names of Pebble and LevelDB; a name of one's own they know if the
//     former policy is configured first, or put into Options.Filters.
//   - Off, by ConfigureLevels with nil for each level: the old filters are asked while Options.Filters has their names.
//   - On again: tables that were written without a filter are read without one.
//
// Compactions replace the old filters over time. [Rewrite] does so at once, while the database is read and written, and
// [FiltersOnDisk] tells how many tables have which filter. A policy.Counted in place of the policy tells what the filters
// do.
package pebblev1
