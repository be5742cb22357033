#!/usr/bin/env bash
# Prints the commands that release the version of the first section of .github/CHANGELOG.md: first
# those that make the modules require that version of each other, and once this is done, a tag for
# each module but examples, the root's first, because the others require it.
#
#   testdata/versions/release.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
next=$(sed -n 's/^## \(v[0-9.]*\).*/\1/p' .github/CHANGELOG.md | head -n 1)
required=$(sed -n 's/.*levelbloom \(v[0-9.]*\) => [.]$/\1/p' go.work)
if [ "$required" != "$next" ]; then
  echo "sed -i '/levelbloom/s/ $required/ $next/' go.work \$(git ls-files '*go.mod')"
  exit
fi
root=github.com/levelbloom/levelbloom
for module in $(go list -m | grep -v /testdata/); do
  directory=${module#"$root"}
  tag=${directory:+${directory#/}/}$next
  echo "git tag $tag && git push origin $tag"
done
