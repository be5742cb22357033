package goleveldb_test

import (
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// openDB opens a goleveldb database. For filters that plain goleveldb reads too, it would be
// policy.NewBloom(10, policy.WithName(policy.NameGoLevelDB)).
func openDB(dir string) (*leveldb.DB, error) {
	p, err := policy.NewRibbon(10)
	if err != nil {
		return nil, err
	}
	o := &opt.Options{}
	if err := goleveldb.Configure(o, p); err != nil {
		return nil, err
	}
	return leveldb.OpenFile(dir, o)
}
