#!/usr/bin/env bash
# Runs Pebble's own metamorphic tests, of the version in go.mod, with our filters in place of its
# own, at random settings:
#
#   testdata/torture/pebble.sh v2 [flags, such as -ops uniform:5000-10000 -count 10]
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$1
shift
module=github.com/cockroachdb/pebble
[ "$version" = v1 ] || module=$module/$version
ours=$PWD
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$(go list -m -f '{{.Dir}}' $module)/." "$copy"
chmod -R u+w "$copy"
cd "$copy"
cat "$ours/go.sum" >>go.sum
go mod edit -require github.com/levelbloom/levelbloom@v0.0.0 \
  -replace "github.com/levelbloom/levelbloom=$ours"
cat >metamorphic/ours.go <<END
package metamorphic

import (
	"fmt"

	"$module"
	adapter "github.com/levelbloom/levelbloom/adapters/pebble$version"
	"github.com/levelbloom/levelbloom/policy"
)

var oursKinds = []func(float64, string) (policy.Policy, error){
	func(bits float64, name string) (policy.Policy, error) {
		return policy.NewBloom(bits, policy.WithName(name))
	},
	func(bits float64, name string) (policy.Policy, error) {
		return policy.NewBlockedBloom(bits, policy.WithName(name))
	},
}

func oursAt(bits int) pebble.FilterPolicy {
	name := fmt.Sprintf("ours/%d", bits)
	p, err := oursKinds[bits/2%len(oursKinds)](float64(bits), name)
	if err != nil {
		panic(err)
	}
	return adapter.New(p)
}

func oursByName(name string) pebble.FilterPolicy {
	var bits int
	if _, err := fmt.Sscanf(name, "ours/%d", &bits); err != nil {
		return nil
	}
	return oursAt(bits)
}
END
sed -i -e 's/bloom\.FilterPolicy(10)/oursAt(10)/' \
  -e 's/\(lopts.FilterPolicy = \)newTestingFilterPolicy(/\1oursAt(/' \
  -e '/^func filterPolicyFromName/a if ours := oursByName(name); ours != nil { return ours, nil }' \
  metamorphic/options.go
[ "$(grep -c 'oursAt(' metamorphic/options.go)" -eq 4 ]
go mod tidy
go test ./internal/metamorphic -run '^TestMeta$' -v "$@" >log 2>&1 || { tail -n 300 log; exit 1; }
echo "$(grep -c -- '--- PASS: TestMeta/execution/' log) runs gave the same answers"
