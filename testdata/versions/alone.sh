#!/usr/bin/env bash
# Runs a command in each module by itself, without go.work, as its users get it: what it requires of
# the other modules here comes from a proxy that serves them as they are on disk.
#
#   testdata/versions/alone.sh go mod tidy
#   testdata/versions/alone.sh go test -short ./...
#   MODULES="bench adapters/pebblev1" testdata/versions/alone.sh go list -m all
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go run ./testdata/versions/proxy "$work/proxy"
modules=${MODULES:-$(go list -m -f '{{.Dir}}')}

# Other modules come from the user's module cache, as far as they are there. All of them go to one
# that is removed, because tomorrow the same version of ours has other bytes. Without -modcacherw it
# could not be removed, and without -trimpath each run would compile them anew, because their
# directories are new.
export GOWORK=off GOSUMDB=off GOFLAGS="-mod=mod -modcacherw -trimpath" GOPROXY
GOPROXY=file://$work/proxy,file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY)
export GOMODCACHE=$work/modules
for module in $modules; do
  (
    cd "$module"
    status=0
    "$@" || status=$?
    sed -i '/^github.com\/levelbloom\//d' go.sum # sums that tomorrow are others
    exit $status
  )
done
