#!/usr/bin/env bash
# Runs the adapters' short tests, in a copy, with newer engines than they require: the newest patch
# releases of both Pebbles, and the newest goleveldb.
#
#   .ci/versions/newest.sh [flags of go test]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z | xargs -0 cp --parents -t "$copy"
cd "$copy"
go generate ./adapters/pebblev1 # writes its tests
newest() { # ADAPTER MODULE@QUERY [flags of go test]
  # Resolved here: inside alone.sh, the module cache answers first, and lists only what it has.
  local engine
  engine=$(go list -m -f '{{.Path}}@{{.Version}}' "$2")
  MODULES=adapters/$1 .ci/versions/alone.sh bash -euo pipefail -c \
    'go get "$0" && go test -short "$@" ./...' "$engine" "${@:3}"
}
newest goleveldb github.com/syndtr/goleveldb@v1.0.1-0.20220721030215-126854af5e6d "$@"
newest pebblev1 github.com/cockroachdb/pebble@v1.1 "$@"
newest pebblev2 github.com/cockroachdb/pebble/v2@v2.1 "$@"
