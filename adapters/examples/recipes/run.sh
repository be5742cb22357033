#!/usr/bin/env bash
# Builds the recipes of adapters/README.md into the programs they are for, at the versions that it
# names, fills databases through these programs, looks which tables have filters, and runs the
# programs' own tests. The modules come from the Go module proxy.
#
#   adapters/examples/recipes/run.sh [PROGRAM...]   without arguments, all
#   VERSION=latest adapters/examples/recipes/run.sh   their newest releases
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
readme=$repository/adapters/README.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$repository"
go build -o "$work/bin/filterdump" ./sstable/filterdump
export PATH="$work/bin:$PATH" GOFLAGS=-mod=mod

# quiet runs a command, and shows what it wrote to stderr if it fails.
quiet() {
  "$@" 2>"$work/log" || { tail -n 100 "$work/log"; exit 1; }
}

# row PROGRAM ADAPTER sets version, file and options to those of the README's row.
row() {
  local line
  line=$(grep -E "^\| $1 v.* \| \`$2\` \|" "$readme")
  version=${VERSION:-$(sed -E 's/^\| [^ ]+ ([^ ]+) .*/\1/' <<<"$line")}
  file=$(sed -E 's/^[^`]*`([^`]*)`.*/\1/' <<<"$line")
  options=$(sed -E 's/.*`([^`]*)` \|$/\1/' <<<"$line")
}

# require MODULE@VERSION... makes a module of the program's main.go.
require() {
  echo "== $*"
  rm -rf "$work/main"
  cp -r "$repository/adapters/examples/recipes/$program" "$work/main"
  cd "$work/main"
  quiet go mod init recipe
  "$repository/.ci/versions/use.sh"
  go mod edit -replace \
    "github.com/levelbloom/levelbloom/adapters/examples/recipes=$repository/adapters/examples/recipes"
  quiet go get "$@"
}

# copy MODULE replaces a module by a copy, which can be patched.
copy() {
  rm -rf "$work/copy"
  go mod edit -dropreplace "$1"
  cp -r "$(go list -m -f '{{.Dir}}' "$1")" "$work/copy"
  chmod -R u+w "$work/copy"
  go mod edit -replace "$1=$work/copy"
}

# patch ADAPTER adds the README's lines to the copy, before the statement that takes the options.
patch() {
  row "$program" "$1"
  local more=
  case $1 in
    goleveldb) more="$options.DisableSeeksCompaction = true\\n\\t" ;;
    pebblev1) more="$options.FormatMajorVersion = pebble.FormatRangeKeys\\n\\t" ;;
  esac
  sed -n '/^```go$/,/^```$/{/^```/!p}' "$readme" |
    sed -e "s/if err := pebblev2/$more&/; s/pebblev2\./$1./g" \
      -e "s/(opt, filterPolicy/($options, filterPolicy/" >"$work/lines"
  awk -v lines="$work/lines" -v call="[(].*, $options[)]" '
    $0 ~ call { while ((getline line <lines) > 0) print line; calls++ }
    { print }
    END {
      if (calls == 1) exit
      print FILENAME ": " calls + 0 " statements take the options: one must" >"/dev/stderr"
      exit 1
    }' "$work/copy/$file" >"$work/patched"
  sed -i '/^import (/a\
	"github.com/levelbloom/levelbloom/policy"\
	"github.com/levelbloom/levelbloom/adapters/'$1'"' "$work/patched"
  mv "$work/patched" "$work/copy/$file"
}

go-ds() {
  row go-ds-leveldb goleveldb
  local leveldb=$version
  row go-ds-pebble pebblev2
  require "github.com/ipfs/go-ds-leveldb@$leveldb" "github.com/ipfs/go-ds-pebble@$version"
  quiet go run .
  copy github.com/ipfs/go-ds-pebble
  sed -i -e '/) Has(/,/^}/ { /, err := /,/^\t}$/c\
	return pebblev2.Has(d.DB, key.Bytes())
}' -e '/^import (/a\
	"github.com/levelbloom/levelbloom/adapters/pebblev2"' "$work/copy/datastore.go"
  quiet go run .
}

cosmos-db() {
  local module=github.com/cosmos/cosmos-db
  row cosmos-db pebblev1
  require "$module@$version"
  quiet go run . default
  copy $module
  patch goleveldb
  patch pebblev1
  sed -i '/) Has(/,/^}/ { /bz, err := /,/return bz/c\
	return pebblev1.Has(db.db, key)
}' "$work/copy/pebble.go"
  quiet go run . recipe
  quiet go test $module
}

go-ethereum() {
  local module=github.com/ethereum/go-ethereum
  row go-ethereum pebblev2
  require "$module@$version"
  copy $module
  patch goleveldb
  patch pebblev1
  patch pebblev2
  for adapter in pebblev1 pebblev2; do
    row go-ethereum $adapter
    sed -i '/) Has(/,/^}/ { /closer, err := /,/return true/c\
	return '$adapter'.Has(d.db, key)
}' "$work/copy/$file"
  done
  quiet go run . recipe
  quiet go test $module/ethdb/leveldb $module/ethdb/pebble
}

for program in ${*:-go-ds cosmos-db go-ethereum}; do
  "$program"
done
