package goleveldb

import "github.com/syndtr/goleveldb/leveldb/opt"

// TableOptions returns options for reading and writing a database's own tables with table.NewReader
// and table.NewWriter. o is what the database is opened with, or nil for goleveldb's defaults; it
// is not changed. The keys of such tables are internal ones: [ParseInternalKey] splits them, and
// [SearchKey] returns the one to pass to Find and Seek.
//
// The result differs from o in the comparer and the filters, which are those of o for internal keys
// ([ForInternalKeys]). Do not open databases with it.
func TableOptions(o *opt.Options) *opt.Options {
	var internal opt.Options
	if o != nil {
		internal = *o
	}
	internal.Comparer = internalComparer{o.GetComparer()}
	if internal.Filter != nil {
		internal.Filter = ForInternalKeys(internal.Filter)
	}
	internal.AltFilters = nil
	for _, f := range o.GetAltFilters() {
		internal.AltFilters = append(internal.AltFilters, ForInternalKeys(f))
	}
	return &internal
}
