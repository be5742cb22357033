#!/usr/bin/env bash
# Runs the metamorphic tests of Pebble's newest patch release with our filters in place of its own,
# at random settings. Every lookup is ours, and is compared with Pebble's. Rewrite comes before
# flushes, compactions and snapshots, and changes no answer:
#
#   .ci/torture/pebble.sh v2 [flags, such as -ops uniform:5000-10000 -count 10]
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
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"math/rand"
	"os"

	"$module"
	adapter "github.com/levelbloom/levelbloom/adapters/pebble$version"
	"github.com/levelbloom/levelbloom/.ci/torture/ours"
)

// oursAt returns a policy whose kind and name follow from the bits per key.
func oursAt(bitsPerKey int) pebble.FilterPolicy {
	format := ours.Policies[bits.Len(uint(bitsPerKey))%len(ours.Policies)]
	return adapter.New(ours.New(format, float64(bitsPerKey), fmt.Sprintf("ours/%d", bitsPerKey)))
}

func oursByName(name string) pebble.FilterPolicy {
	var bitsPerKey int
	if _, err := fmt.Sscanf(name, "ours/%d", &bitsPerKey); err != nil {
		return nil
	}
	return oursAt(bitsPerKey)
}

// withMark gives o's collectors the mark of Configure, at most openings of a database.
func withMark(o *pebble.Options) *pebble.Options {
	marked := &pebble.Options{
		FormatMajorVersion:      o.FormatMajorVersion,
		BlockPropertyCollectors: o.BlockPropertyCollectors,
	}
	if err := adapter.Configure(marked, ours.New("ribbon:%v", 10, "ribbon")); err != nil {
		panic(err)
	}
	if rand.Intn(4) > 0 {
		o.BlockPropertyCollectors = marked.BlockPropertyCollectors
	}
	return o
}

// oursRewrite calls Rewrite with a policy that o's database was not opened with. So it finds tables
// to rewrite whenever there are any, three times, and returns an error, which it adds to a file.
func oursRewrite(o *pebble.Options, db *pebble.DB) {
	other := o.Clone()
	if err := adapter.Configure(other, ours.New("ribbon:%v", 10, "other")); err != nil {
		panic(err)
	}
	result := adapter.Rewrite(context.Background(), other, db, nil)
	file, err := os.OpenFile(os.Getenv("REWRITTEN"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(file, result)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		panic(err)
	}
}

// oursGet is our Get. It panics if our other lookups or the reader's Get answer something else.
func oursGet(r pebble.Reader, key []byte) ([]byte, io.Closer, error) {
	has, err := adapter.Has(r, key)
	if err != nil {
		return nil, nil, err
	}
	may, err := adapter.MayContain(r, key)
	if err != nil {
		return nil, nil, err
	}
	all, err := adapter.HasMany(r, [][]byte{key, key})
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
	if found != has || found && !may || found != all[0] || found != all[1] ||
		found != (err == nil) || !bytes.Equal(want, value) {
		panic(fmt.Sprintf("%T, key %q: found %t: %q, Has %t, MayContain %t, HasMany %t, ours %q, %v",
			r, key, found, want, has, may, all, value, err))
	}
	return value, closer, err
}
END
sed -i -e 's/bloom\.FilterPolicy(10)/oursAt(10)/' \
  -e 's/\(lopts.FilterPolicy = \)newTestingFilterPolicy(/\1oursAt(/' \
  -e '/^func filterPolicyFromName/a if ours := oursByName(name); ours != nil { return ours, nil }' \
  metamorphic/options.go
[ "$(grep -c 'oursAt(' metamorphic/options.go)" -eq 4 ]
if [ "$version" = v1 ]; then
  sed -i '/lopts.TargetFileSize =/a lopts.Compression = pebble.Compression(rng.Intn(4))' \
    metamorphic/options.go
  [ "$(grep -c 'lopts.Compression = pebble.Compression' metamorphic/options.go)" -eq 1 ]
fi
sed -i '/^func (o \*getOp) run/,/^}/s/ r\.Get(/ oursGet(r, /' metamorphic/ops.go
[ "$(grep -c 'oursGet(r, o.key)' metamorphic/ops.go)" -eq 1 ]
for op in compactOp:dbID flushOp:db newSnapshotOp:dbID; do
  db="t.getDB(o.${op#*:})"
  if [ "$version" = v1 ]; then db=t.db; fi
  sed -i "/^func (o \*${op%:*}) run/a oursRewrite(t.opts, $db)" metamorphic/ops.go
done
[ "$(grep -c 'oursRewrite(' metamorphic/ops.go)" -eq 3 ]
export REWRITTEN=$copy/rewritten
sed -i 's/pebble\.Open(\(t\.\)\{0,1\}dir, \([^)]*\))/pebble.Open(\1dir, withMark(\2))/' metamorphic/test.go
[ "$(grep -c 'withMark(' metamorphic/test.go)" -eq 2 ]
go test ./internal/metamorphic -run '^TestMeta$' -v "$@" >log 2>&1 || { tail -n 300 log; exit 1; }
echo "$(grep -c -- '--- PASS: TestMeta/execution/' log) runs gave the same answers"
echo "$(grep -c 'written meanwhile' rewritten) of $(grep -c . rewritten) Rewrites wrote"
