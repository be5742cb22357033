#!/usr/bin/env bash
# Runs the tests that go-ethereum has for its stores, on goleveldb, Pebble v1 and Pebble v2, with
# our filters: of one policy after the other, or of those in POLICIES. What is in memory goes to tables all the
# time, so that filters are asked.
#
#   .ci/torture/geth.sh [flags of go test, such as -count 10]
set -euo pipefail
. "$(dirname "$0")/copy.sh" github.com/ethereum/go-ethereum@v1.17.10
cat >ethdb/leveldb/ours_test.go <<'END'
package leveldb

import (
	"testing"

	adapter "github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/.ci/torture/ours"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

func TestMain(m *testing.M) { ours.Main(m) }

func oursOptions() *opt.Options {
	o := &opt.Options{WriteBuffer: 1 << 10}
	if err := adapter.Configure(o, ours.Counted()); err != nil {
		panic(err)
	}
	return o
}
END
sed -i 's/\(leveldb\.Open(storage\.NewMemStorage(), \)nil/\1oursOptions()/' \
  ethdb/leveldb/leveldb_test.go
[ "$(grep -c 'oursOptions()' ethdb/leveldb/leveldb_test.go)" -eq 2 ]
for version in v1 v2; do
  engine=github.com/cockroachdb/pebble/$version
  cat >ethdb/pebble/ours${version}_test.go <<END
package pebble

import (
	"${engine%/v1}"
	adapter "github.com/levelbloom/levelbloom/adapters/pebble$version"
	"github.com/levelbloom/levelbloom/.ci/torture/ours"
)

func ours$version(o *pebble.Options) *pebble.Options {
	o.MemTableSize = 4 << 10
	if err := adapter.Configure(o, ours.Counted(), adapter.WithLevel(6, ours.Counted())); err != nil {
		panic(err)
	}
	return o
}
END
done
cat >ethdb/pebble/ours_test.go <<'END'
package pebble

import (
	"testing"

	"github.com/levelbloom/levelbloom/.ci/torture/ours"
)

func TestMain(m *testing.M) { ours.Main(m) }
END
sed -i -E '/pebblev[12]\.Open\("", &pebblev/{
  s/pebble(v[12])\.Open\("", (.*)$/pebble\1.Open("", ours\1(\2/; n; n; s/\}\)/}))/
}' ethdb/pebble/pebble_test.go
[ "$(grep -c 'ours' ethdb/pebble/pebble_test.go)" -eq 5 ]
for store in leveldb pebble; do
  (cd ethdb/$store && test_each_policy "$@")
done
