#!/usr/bin/env bash
# Makes the module of the current directory use the modules of this tree, as they are on disk. With
# GOFLAGS=-mod=mod, the go command then adds a requirement for each one that is imported.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cat "$repository"/{go.work.sum,go.sum,adapters/*/go.sum} >>go.sum
mapfile -t replacements < <(
  cd "$repository" && GOWORK= GOFLAGS= go list -m -f '-replace={{.Path}}={{.Dir}}'
)
go mod edit "${replacements[@]}"
