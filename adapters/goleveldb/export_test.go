package goleveldb

import (
	"context"
	"time"

	"github.com/syndtr/goleveldb/leveldb"
)

// RewriteInPortions is Rewrite for databases too small for its sizes.
func RewriteInPortions(ctx context.Context, db *leveldb.DB, portion, stretch int, progress func(RewriteProgress)) error {
	r := rewriter{db: db, portion: portion, stretch: stretch, grace: 50 * time.Millisecond, progress: progress}
	return r.run(ctx)
}
