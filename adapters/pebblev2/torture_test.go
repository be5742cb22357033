package pebblev2_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/internal/torture"
)

var target = torture.Target{OnDisk: func(_ testing.TB, dir string) enginetest.Engine {
	return suiteEngine{vfs.Default, dir}
}}

// A killed process loses no acknowledged key, and deleted keys stay deleted, even if it dies while
// it opens the database.
func TestKill(t *testing.T) { torture.Kill(t, target) }

// Concurrent use loses no key, and leaks no goroutine or memory, while filters change and
// compactions run.
func TestSoak(t *testing.T) { torture.Soak(t, target) }
