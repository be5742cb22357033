package pebblev2

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// checkOpened returns an error if db was opened before o got its filter policies.
func (w wanted) checkOpened(o *pebble.Options, db *pebble.DB) error {
	opened := policiesAtOpen(o, db)
	for level, name := range opened {
		want := "none"
		if f := w.filters[level]; f != nil {
			want = f.Name()
		}
		if name != want {
			return errors.New("the database was opened with other filter policies than the options " +
				"have now: call Configure before pebble.Open")
		}
	}
	return nil
}

// policiesAtOpen returns the names of the levels' policies with which db was opened, or none if it
// does not know. pebble.Open writes them to an options file, unless db is read only.
func policiesAtOpen(o *pebble.Options, db *pebble.DB) (names []string) {
	tables := db.ObjProvider().List()
	if len(tables) == 0 || o.ReadOnly {
		return nil
	}
	fs := o.FS
	if fs == nil {
		fs = vfs.Default
	}
	dir := fs.PathDir(db.ObjProvider().Path(tables[0])) // nowhere, if that is remote
	files, _ := fs.List(dir)
	files = slices.DeleteFunc(files, func(name string) bool {
		return !strings.HasPrefix(name, "OPTIONS-")
	})
	if len(files) == 0 {
		return nil
	}
	file, err := fs.Open(fs.PathJoin(dir, slices.Max(files)))
	if err != nil {
		return nil
	}
	defer file.Close()
	text, _ := io.ReadAll(file)
	for _, line := range strings.Split(string(text), "\n") {
		name, isPolicy := strings.CutPrefix(line, "  filter_policy=")
		if isPolicy && len(names) < numLevels {
			names = append(names, name)
		}
	}
	return names
}
