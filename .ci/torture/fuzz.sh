#!/usr/bin/env bash
# Runs the fuzz targets of some packages, or of all, each for a time, one on each processor:
#
#   .ci/torture/fuzz.sh 30m ./policy ./sstable
#
# Packages that import Pebble take minutes to build, because the coverage of all they import is
# measured.
set -euo pipefail
cd "$(dirname "$0")/../.."
time=${1:-5s}
shift || true
packages=${*:-$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u)}

fuzz() { # time, package, target
  # By default Go spends up to a minute on making each interesting input smaller.
  log=$(go test "$2" -run '^$' -parallel 1 -fuzz "^$3\$" -fuzztime "$1" -fuzzminimizetime 20x \
    2>&1) ||
    # Go before 1.27 may fail because the time is over (go.dev/issue/75804).
    grep -qx ' *context deadline exceeded' <<<"$log" || { printf '%s\n' "$log"; exit 1; }
  # The last line of progress has the number of executions.
  printf '%s %s: %s\n' "$2" "$3" "$(grep -o 'execs: [0-9]*' <<<"$log" | tail -n 1)"
}
export -f fuzz

for package in $packages; do
  for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz'); do
    printf '%s %s\n' "$package" "$target"
  done
done | xargs -n 2 -P "$(getconf _NPROCESSORS_ONLN)" bash -c 'fuzz "$@"' _ "$time"
