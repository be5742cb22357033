#!/usr/bin/env bash
# Runs Pebble's own metamorphic tests, of the version in go.mod, with our filters in place of its
# own, at random settings:
#
#   testdata/torture/pebble.sh v2 [flags, such as -ops uniform:5000-10000 -count 10]
set -euo pipefail
version=$1
shift
module=github.com/cockroachdb/pebble/$version
module=${module%/v1}
. "$(dirname "$0")/copy.sh" "$module"
cat >metamorphic/ours.go <<END
package metamorphic

import (
	"fmt"
	"math/bits"

	"$module"
	adapter "github.com/levelbloom/levelbloom/adapters/pebble$version"
	"github.com/levelbloom/levelbloom/testdata/torture/ours"
)

// oursAt returns a policy whose kind and name follow from the bits per key.
func oursAt(bitsPerKey int) pebble.FilterPolicy {
	kind := ours.Kinds[bits.Len(uint(bitsPerKey))%len(ours.Kinds)]
	return adapter.New(ours.New(kind, float64(bitsPerKey), fmt.Sprintf("ours/%d", bitsPerKey)))
}

func oursByName(name string) pebble.FilterPolicy {
	var bitsPerKey int
	if _, err := fmt.Sscanf(name, "ours/%d", &bitsPerKey); err != nil {
		return nil
	}
	return oursAt(bitsPerKey)
}
END
sed -i -e 's/bloom\.FilterPolicy(10)/oursAt(10)/' \
  -e 's/\(lopts.FilterPolicy = \)newTestingFilterPolicy(/\1oursAt(/' \
  -e '/^func filterPolicyFromName/a if ours := oursByName(name); ours != nil { return ours, nil }' \
  metamorphic/options.go
[ "$(grep -c 'oursAt(' metamorphic/options.go)" -eq 4 ]
go test ./internal/metamorphic -run '^TestMeta$' -v "$@" >log 2>&1 || { tail -n 300 log; exit 1; }
echo "$(grep -c -- '--- PASS: TestMeta/execution/' log) runs gave the same answers"
