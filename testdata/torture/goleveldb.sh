#!/usr/bin/env bash
# Runs goleveldb's own tests, of the version in go.mod, with our filters in place of its own: one
# kind after the other.
#
#   testdata/torture/goleveldb.sh [flags of go test, such as -run TestDB]
set -euo pipefail
cd "$(dirname "$0")/../.."
module=github.com/syndtr/goleveldb
ours=$PWD
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$(go list -m -f '{{.Dir}}' $module)/." "$copy"
chmod -R u+w "$copy"
cd "$copy"
cp "$ours/go.sum" .
go mod edit -go "$(cd "$ours" && go list -m -f '{{.GoVersion}}')" \
  -require github.com/levelbloom/levelbloom@v0.0.0 \
  -replace "github.com/levelbloom/levelbloom=$ours"
cat >leveldb/ours_test.go <<'END'
package leveldb

import (
	"os"

	adapter "github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/syndtr/goleveldb/leveldb/filter"
)

func ours() filter.Filter {
	var p policy.Policy
	switch os.Getenv("KIND") {
	case "exact":
		p, _ = policy.NewBloom(10)
	case "blocked":
		p, _ = policy.NewBlockedBloom(10)
	}
	return adapter.New(p)
}
END
sed -i 's/filter\.NewBloomFilter(10)/ours()/; s/^\t"[^"]*leveldb\/filter"$/\t_ &/' leveldb/{corrupt,db}_test.go
[ "$(grep -c 'ours()' leveldb/db_test.go)" -ge 2 ]
go mod tidy
for kind in exact blocked; do
  echo "== $kind"
  KIND=$kind go test -count=1 "$@" ./leveldb
done
