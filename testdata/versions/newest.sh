#!/usr/bin/env bash
# Runs the adapters' short tests, in a copy, with newer engines than go.mod requires: the newest
# patch releases of both Pebbles, and the newest goleveldb.
#
#   testdata/versions/newest.sh [flags of go test]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z | xargs -0 cp --parents -t "$copy"
cd "$copy"
go get github.com/cockroachdb/pebble@v1.1 github.com/cockroachdb/pebble/v2@v2.1 \
  github.com/syndtr/goleveldb@v1.0.1-0.20220721030215-126854af5e6d 2>&1 | grep upgraded
go test -short "$@" ./adapters/goleveldb ./adapters/pebblev1 ./adapters/pebblev2
