#!/usr/bin/env bash
# Adds the adapters to the programs of adapters/README.md, at the versions that it names, and
# prints which of a program's requirements rise. The modules come from the Go module proxy.
#
#   testdata/versions/raised.sh
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GOFLAGS=-mod=mod

# versions prints "go VERSION", and "MODULE VERSION" for each requirement, of the module in the
# current directory. Go 1.23 counts as 1.23.0.
versions() {
  {
    go mod edit -json | sed -n 's/^\t"Go": "\(.*\)",$/go \1/p' | sed 's/^go [0-9]*[.][0-9]*$/&.0/'
    go mod edit -json | sed -n -e 's/.*"Path": "\(.*\)",$/\1/p' -e 's/.*"Version": "\(.*\)".*/\1/p' |
      paste -d ' ' - -
  } | sort
}

# raised PROGRAM MODULE ADAPTER... prints the program, and each requirement that rises.
raised() {
  local version
  version=$(sed -n "s/^| $1 \(v[^ ]*\) .*/\1/p" "$repository/adapters/README.md" | head -n 1)
  echo "$1 $version"
  cp -r "$(go mod download -json "$2@$version" | sed -n 's/.*"Dir": "\(.*\)",$/\1/p')" "$work/$1"
  chmod -R u+w "$work/$1"
  cd "$work/$1"
  rm -f go.work
  go mod tidy -e 2>/dev/null # otherwise what was untidy would count
  versions >../before
  mkdir levelbloom
  {
    echo 'package levelbloom'
    printf 'import _ "github.com/levelbloom/levelbloom/adapters/%s"\n' "${@:3}"
  } >levelbloom/import.go
  go mod edit -require github.com/levelbloom/levelbloom@v0.0.0 \
    -replace "github.com/levelbloom/levelbloom=$repository"
  go mod tidy -e 2>/dev/null
  go build ./levelbloom
  versions | join ../before - | awk '$2 != $3 { print "  " $1, $2, "to", $3 }'
  cd "$work"
}

cd "$work"
raised go-ethereum github.com/ethereum/go-ethereum goleveldb pebblev1 pebblev2
raised cosmos-db github.com/cosmos/cosmos-db goleveldb pebblev1
raised go-ds-pebble github.com/ipfs/go-ds-pebble pebblev2
raised cometbft-db github.com/cometbft/cometbft-db goleveldb pebblev1
