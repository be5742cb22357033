#!/usr/bin/env bash
# Runs the metamorphic tests of Pebble's newest patch release with our filters in place of its own,
# at random settings. Every lookup is ours, and is compared with Pebble's:
#
#   testdata/torture/pebble.sh v2 [flags, such as -ops uniform:5000-10000 -count 10]
set -euo pipefail
version=$1
shift
module=github.com/cockroachdb/pebble/$version
module=${module%/v1}
. "$(dirname "$0")/copy.sh" "$module@$version.1"
cat >metamorphic/ours.go <<END
package metamorphic

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

// oursGet is our Get. It panics if our Has or the reader's Get answers something else.
func oursGet(r pebble.Reader, key []byte) ([]byte, io.Closer, error) {
	has, err := adapter.Has(r, key)
	if err != nil {
		return nil, nil, err
	}
	want, closer, err := r.Get(key)
	if err == nil {
		want = bytes.Clone(want)
		err = closer.Close()
	}
	found := err == nil
	if !found && !errors.Is(err, pebble.ErrNotFound) {
		return nil, nil, err
	}
	value, closer, err := adapter.Get(r, key)
	if err != nil && !errors.Is(err, pebble.ErrNotFound) {
		return nil, nil, err
	}
	if found != has || found != (err == nil) || !bytes.Equal(want, value) {
		panic(fmt.Sprintf("%T, key %q: found %t: %q, Has %t, ours %q, %v",
			r, key, found, want, has, value, err))
	}
	return value, closer, err
}
END
sed -i -e 's/bloom\.FilterPolicy(10)/oursAt(10)/' \
  -e 's/\(lopts.FilterPolicy = \)newTestingFilterPolicy(/\1oursAt(/' \
  -e '/^func filterPolicyFromName/a if ours := oursByName(name); ours != nil { return ours, nil }' \
  metamorphic/options.go
[ "$(grep -c 'oursAt(' metamorphic/options.go)" -eq 4 ]
sed -i '/^func (o \*getOp) run/,/^}/s/ r\.Get(/ oursGet(r, /' metamorphic/ops.go
[ "$(grep -c 'oursGet(r, o.key)' metamorphic/ops.go)" -eq 1 ]
go test ./internal/metamorphic -run '^TestMeta$' -v "$@" >log 2>&1 || { tail -n 300 log; exit 1; }
echo "$(grep -c -- '--- PASS: TestMeta/execution/' log) runs gave the same answers"
