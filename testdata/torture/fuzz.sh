#!/usr/bin/env bash
# Runs the fuzz targets of some packages, or of all, each for a time:
#
#   testdata/torture/fuzz.sh 30m ./policy ./sstable
#
# Packages that import Pebble take minutes to build, because the coverage of all they import is
# measured. By default Go would spend up to a minute on making each interesting input smaller.
set -euo pipefail
cd "$(dirname "$0")/../.."
time=${1:-5s}
shift || true
packages=${*:-$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u)}
for package in $packages; do
  for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz'); do
    # The last line of progress has the number of executions.
    log=$(go test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "$time" \
      -fuzzminimizetime 20x 2>&1) ||
      { printf '%s\n' "$log"; exit 1; }
    printf '%s %s: %s\n' "$package" "$target" "$(grep -o 'execs: [0-9]*' <<<"$log" | tail -n 1)"
  done
done
