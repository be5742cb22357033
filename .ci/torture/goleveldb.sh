#!/usr/bin/env bash
# Runs goleveldb's own tests, of the version that the adapter requires, with our filters in place of its own: of one
# policy after the other, or of those in POLICIES.
#
#   .ci/torture/goleveldb.sh [flags of go test, such as -run TestDB]
set -euo pipefail
. "$(dirname "$0")/copy.sh" github.com/syndtr/goleveldb
# The adapter imports package leveldb, so the tests in that package must not import the adapter. Its
# filters alone do not.
mkdir leveldb/adapter
cp "$repository/adapters/goleveldb/filter.go" leveldb/adapter
cat >leveldb/ours_test.go <<'END'
package leveldb

import (
	"testing"

	"github.com/levelbloom/levelbloom/.ci/torture/ours"
	adapter "github.com/syndtr/goleveldb/leveldb/adapter"
)

func TestMain(m *testing.M) { ours.Main(m) }

var oursFilter = adapter.New(ours.Counted())
END
sed -i 's/filter\.NewBloomFilter(10)/oursFilter/; s/^\t"[^"]*leveldb\/filter"$/\t_ &/' \
  leveldb/{corrupt,db}_test.go
[ "$(grep -c oursFilter leveldb/db_test.go)" -ge 2 ]
go mod edit -go "$(cd "$repository" && GOFLAGS= go list -m -f '{{.GoVersion}}' github.com/levelbloom/levelbloom)"
cd leveldb
test_each_policy "$@"
