// Package filters measures the false-positive rates of filters outside of any engine. An engine's
// own filters are called as the engine calls them, and levelbloom's as goleveldb does, through the
// adapter. BenchmarkFilters times them.
//
// Rates: a cell is a shape of keys and a number of keys per filter. In each cell every kind builds
// many filters of different keys, and looks up absent keys. All kinds have the same keys. Which
// these are, and how many, depends on the cell and the number of queries alone, never on the
// answers or on what else is measured: a cell always has the same rates.
package filters
