package pebblev2_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
)

// The databases that releases wrote: in the oldest format of a database, and in the newest.
func TestReleases(t *testing.T) {
	enginetest.ReleaseEngine{
		Name: "pebblev2",
		New: func(_ testing.TB, dir string) enginetest.Engine {
			return suiteEngine{fs: vfs.Default, dir: dir}
		},
		Settings: [2]enginetest.Setting{
			{Variant: 0, Large: true}, {Variant: len(comparers), Large: true},
		},
	}.Releases(t)
}
