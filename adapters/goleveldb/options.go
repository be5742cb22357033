package goleveldb

import (
	"fmt"

	"github.com/syndtr/goleveldb/leveldb/opt"
)

// LevelDB's own windows of 2 KiB, and 2 GiB, which is more than any sensible table.
const (
	minFilterBaseLg = 11
	maxFilterBaseLg = 31
)

// WithFilterBaseLg makes 2^lg bytes of a table's data blocks share one filter. lg is 11 to 31. A
// data block belongs to the window in which it begins. The default of 11, the only setting that C++
// LevelDB writes, makes in effect one filter per block. From 21 on, a table of goleveldb's default
// size, 2 MiB, has one filter.
//
// Every table stores its setting, so a database may contain tables of all settings, and goleveldb
// and C++ LevelDB read all of them. A larger lg saves the 4 bytes that each window takes, and puts
// more keys into a filter, which reduces the false positives of numeric keys, up to about 10,000
// keys per filter; beyond that, the hashes of such keys collide more and more
// (`go run ./bench rates -n 36,500,10k,100k`). A lookup then checks a larger filter, and a builder
// buffers more keys.
//
// Without this option Configure does not change Options.FilterBaseLg.
func WithFilterBaseLg(lg int) Option {
	return func(o *opt.Options) error {
		if lg < minFilterBaseLg || lg > maxFilterBaseLg {
			return fmt.Errorf("goleveldb: WithFilterBaseLg(%d): pass %d to %d, the binary "+
				"logarithm of the bytes that share a filter: %[2]d is LevelDB's 2 KiB, "+
				"16 is 64 KiB, and 21 makes one filter for a table of 2 MiB",
				lg, minFilterBaseLg, maxFilterBaseLg)
		}
		o.FilterBaseLg = lg
		return nil
	}
}

// WithoutSeekCompactions sets Options.DisableSeeksCompaction, so that lookups write nothing.
//
// By default goleveldb counts each lookup that comes to a second table, before it checks the
// filters. After some hundred of them it compacts the table that came first, although the filters
// answered "absent" and nothing was read: lookups of absent keys rewrite the database, again and
// again while there are new writes.
//
// With this option goleveldb no longer compacts tables that lookups or iterators often read in
// vain. Lookups with filters do not need that. Compactions because of the sizes of levels go on.
func WithoutSeekCompactions() Option {
	return func(o *opt.Options) error {
		o.DisableSeeksCompaction = true
		return nil
	}
}
