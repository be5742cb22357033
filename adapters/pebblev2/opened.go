package pebblev2

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// checkOpened returns an error if db was opened before o got its filter policies.
func (w wanted) checkOpened(o *pebble.Options, db *pebble.DB) error {
	opened := policiesAtOpen(o, db)
	if len(opened) == 0 {
		return nil
	}
	for level, f := range w.filters {
		want := "none"
		if f != nil {
			want = f.Name()
		}
		if opened[min(level, len(opened)-1)] != want { // the last goes for the levels past it
			return errors.New("the database was opened with other filter policies than the options " +
				"have now: call Configure before pebble.Open")
		}
	}
	return nil
}

// policiesAtOpen returns the names of the levels' policies with which db was opened, or none if it
// does not know. pebble.Open writes them to an options file, unless db is read only.
func policiesAtOpen(o *pebble.Options, db *pebble.DB) (names []string) {
	if o.ReadOnly {
		return nil
	}
	fs := o.FS
	if fs == nil {
		fs = vfs.Default
	}
	const table = 2 // Pebble's number for this type of file
	local := objstorage.ObjectMetadata{FileType: table}
	dir := fs.PathDir(db.ObjProvider().Path(local))
	file, err := fs.Open(fs.PathJoin(dir, newestOptions(fs, dir)))
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

// newestOptions returns the name of the options file that has the highest number, "" for none.
func newestOptions(fs vfs.FS, dir string) (name string) {
	files, _ := fs.List(dir)
	highest := uint64(0)
	for _, file := range files {
		digits, isOptions := strings.CutPrefix(file, "OPTIONS-")
		number, err := strconv.ParseUint(digits, 10, 64)
		if isOptions && err == nil && number >= highest {
			name, highest = file, number
		}
	}
	return name
}
