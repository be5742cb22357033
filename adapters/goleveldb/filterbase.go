package goleveldb

import (
	"fmt"

	"github.com/syndtr/goleveldb/leveldb/opt"
)

// The windows of 2 KiB that LevelDB itself makes, and 2 GiB, more than the tables of any sensible setting.
const (
	minFilterBaseLg = 11
	maxFilterBaseLg = 31
)

// WithFilterBaseLg makes one filter for every 2^lg bytes of a table's data blocks; a data block belongs to the window
// in which it begins. 11, the default of goleveldb and the only setting that C++ LevelDB writes, makes a filter for every
// 2 KiB, which in effect is one for each block. lg is 11 to 31; from 21 on there is one filter for a table of goleveldb's
// default size, 2 MiB.
//
// Every table says what it was written with, so tables of all settings can be in one database, and goleveldb and C++
// LevelDB read all of them. A larger lg saves the 4 bytes that each window takes, the empty ones included, and gives
// filters more keys, which makes them better for keys that are numbers in sequence. A lookup then probes a larger filter,
// in as many places. Building takes memory for the keys of one filter.
//
// The README has measurements of both. In Options the field is FilterBaseLg; without this option Configure leaves it as
// it is.
func WithFilterBaseLg(lg int) Option {
	return func(o *opt.Options) error {
		if lg < minFilterBaseLg || lg > maxFilterBaseLg {
			return fmt.Errorf("goleveldb: WithFilterBaseLg(%d): pass the binary logarithm of the bytes that share a filter, "+
				"%d to %d: %[2]d is LevelDB's 2 KiB, 16 is 64 KiB, and 21 makes one filter for a table of 2 MiB",
				lg, minFilterBaseLg, maxFilterBaseLg)
		}
		o.FilterBaseLg = lg
		return nil
	}
}
