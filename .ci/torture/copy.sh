# For the scripts beside it: copies a module, as the module proxy has it, and goes there. The copy
# uses the modules of this repository.
#
#   . copy.sh MODULE[@VERSION]   without a version, the one that this repository builds with; v2.1 is the newest v2.1.x
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$repository"
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
info=$(go mod download -json "$1")
field() { sed -n 's/.*"'"$1"'": "\(.*\)",\{0,1\}$/\1/p' <<<"$info"; }
echo "== $(field Path) $(field Version)"
cp -r "$(field Dir)/." "$copy"
chmod -R u+w "$copy"
cd "$copy"
"$repository/.ci/versions/use.sh"
export GOFLAGS=-mod=mod

# test_each_policy runs go test for each of some policies, or those in POLICIES.
test_each_policy() {
  for policy in ${POLICIES:-bloom:10 bloom:10,tuned ribbon:10}; do
    POLICY=$policy go test "$@" >log 2>&1 || { tail -n 300 log; exit 1; }
    echo "$policy: $(grep ' filters built, ' log)"
  done
}
