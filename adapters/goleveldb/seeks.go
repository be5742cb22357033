package goleveldb

import "github.com/syndtr/goleveldb/leveldb/opt"

// WithoutSeekCompactions sets Options.DisableSeeksCompaction, so that lookups write nothing.
//
// By default goleveldb counts each lookup that comes to a second table, before it checks the
// filters. After some hundred of them it compacts the table that came first, although the filters
// answered "absent" and nothing was read: lookups of absent keys rewrite the database, again and
// again while there are new writes.
//
// What is lost: goleveldb no longer compacts tables because they are often read in vain, by lookups
// or by iterators. With filters, lookups have nothing to gain by it. Compactions because of the
// sizes of levels go on.
func WithoutSeekCompactions() Option {
	return func(o *opt.Options) error {
		o.DisableSeeksCompaction = true
		return nil
	}
}
