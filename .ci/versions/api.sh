#!/usr/bin/env bash
# Compares the Go API of each module with that of the newest tag. If programs that use it may no
# longer compile, the first section of .github/CHANGELOG.md must be that of another minor version.
#
#   .ci/versions/api.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! last=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null); then
  echo "There is no release to compare with."
  exit
fi
export GOWORK=
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
apidiff() {
  go run golang.org/x/exp/cmd/apidiff@v0.0.0-20261014143641-f0251eb4aa3e -m "$@" 2>"$work/log" ||
    { cat "$work/log" >&2; exit 1; }
}

# The adapters' paths begin with the root's, so this compares their packages too. The other modules
# are programs.
mkdir "$work/last"
git archive "$last" | tar -x -C "$work/last"
root=github.com/levelbloom/levelbloom
(cd "$work/last" && apidiff -w "$work/api" $root)
changes=$(apidiff -incompatible "$work/api" $root)
next=$(sed -n 's/^## \(v[0-9.]*\).*/\1/p' .github/CHANGELOG.md | head -n 1)
printf 'From %s to %s: %s\n' "$last" "$next" "${changes:-nothing incompatible}"
[ -z "$changes" ] || [ "${next%.*}" != "${last%.*}" ]
