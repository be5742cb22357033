#!/usr/bin/env bash
# Prints the commands that release the version of the first section of .github/CHANGELOG.md: first
# those that make the modules require that version of each other, and once this is committed, a tag
# for each module but examples.
#
#   .ci/versions/release.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export GOWORK=
if [ -n "$(git status --porcelain)" ]; then
  echo "Commit first." >&2
  exit 1
fi
next=$(sed -n 's/^## \(v[0-9.]*\).*/\1/p' .github/CHANGELOG.md | head -n 1)
required=$(sed -n 's/.*levelbloom \(v[0-9.]*\) => [.]$/\1/p' go.work)
if [ "$required" != "$next" ]; then
  echo "sed -i '/levelbloom/s/ $required/ $next/' go.work \$(git ls-files '*go.mod')"
  echo "git commit -am 'Release $next' && .ci/run"
  exit
fi
root=github.com/levelbloom/levelbloom
tags=
for module in $(go list -m | grep -v /examples/); do
  directory=${module#"$root"}
  tag=${directory:+${directory#/}/}$next
  echo "git tag $tag"
  tags+=" $tag"
done
echo "git push --atomic origin$tags" # no adapter without the root that it requires
