#!/usr/bin/env bash
# Makes the module of the current directory use the modules of this tree, as they are on disk. With
# GOFLAGS=-mod=mod, the go command then adds a requirement of each that a package imports.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cat "$repository"/{go.work.sum,go.sum,adapters/*/go.sum} >>go.sum
go mod edit $(cd "$repository" && GOFLAGS= go list -m -f '-replace={{.Path}}={{.Dir}}')
