package pebblev2_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
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
		Properties: func(db enginetest.DB) (properties []string, err error) {
			levels, err := db.(*suiteDB).db.SSTables(pebble.WithProperties())
			tables := slices.Concat(levels...)
			slices.SortFunc(tables, func(a, b pebble.SSTableInfo) int {
				return cmp.Compare(a.FileNum, b.FileNum)
			})
			for _, t := range tables {
				text := "filter " + t.Properties.FilterPolicyName
				if mark, ok := t.Properties.UserProperties["levelbloom.probe"]; ok {
					text += fmt.Sprintf(", levelbloom.probe %x", mark)
				}
				properties = append(properties, text)
			}
			return properties, err
		},
	}.Releases(t)
}
