#!/usr/bin/env bash
# Runs a command in each module by itself, without go.work, as its users get it: what it requires of
# the other modules here comes from a proxy that serves them as they are on disk.
#
#   .ci/versions/alone.sh go mod tidy
#   .ci/versions/alone.sh go test -short ./...
#   MODULES="bench adapters/pebblev1" .ci/versions/alone.sh go list -m all
#
# The go.mod and go.sum that the command leaves replace the module's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export GOWORK= GOSUMDB=off GOPROXY GOFLAGS
GOFLAGS=$(go env GOFLAGS)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
GOWORK=off go run -C .ci/versions/proxy . "$work/proxy"
if [ -n "${MODULES:-}" ]; then
  read -ra modules <<<"$MODULES"
else
  mapfile -t modules < <(go list -m -f '{{.Dir}}')
fi

# Other modules come from the user's module cache, as far as they are there. All modules go to a
# cache that is removed, because tomorrow the same version of ours has other bytes. Without
# -modcacherw it could not be removed, and without -trimpath each run would compile the modules
# anew, because their directories are new.
GOPROXY=file://$work/proxy,file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY)
export GOMODCACHE=$work/modules GOWORK=off
GOFLAGS="$GOFLAGS -mod=mod -modfile=$work/go.mod -modcacherw -trimpath"
for module in "${modules[@]}"; do
  (
    cd "$module"
    cp go.mod go.sum "$work"
    "$@"
    cp "$work/go.mod" .
    grep -v '^github.com/levelbloom/' "$work/go.sum" >go.sum # these sums change with every edit
  )
done
