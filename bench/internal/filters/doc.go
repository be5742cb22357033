// Package filters measures filters outside of any engine: their speed and false-positive rates.
//
// Speed: contestants take turns, one each per round, in random order. A ratio compares two turns of
// the same round, so what slows a whole round down cancels out, and the median of the rounds leaves
// out what slows a single turn down. A turn does its work twice and times the second time: the
// caches and the branch predictor then do not depend on whose turn was before. It has 65,536 random
// keys or more, as a branch predictor learns the answers to few. The clock is that of the thread,
// where there is one: other programs' time is not in it. An engine's own filters are called as the
// engine calls them, and levelbloom's as goleveldb does, through the adapter.
//
// Rates: a cell is a shape of keys and a number of keys per filter. In each cell every kind builds
// many filters of different keys, and looks up absent keys. All kinds have the same keys. Which
// these are, and how many, depends on the cell and the number of queries alone, never on the
// answers or on what else is measured: a cell always has the same rates.
package filters
