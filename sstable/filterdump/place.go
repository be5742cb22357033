package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// A place is a PATH of the command line: a database directory with its tables, or a single table.
type place struct {
	Path string `json:"path"`
	Note string `json:"note,omitempty"` // why it could not be looked at

	tables    []string // their paths, sorted
	directory bool
}

func findPlace(path string) place {
	p := place{Path: path}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		p.directory = true
		p.tables, err = tables.Find(path)
	} else {
		p.tables = []string{path}
	}
	if err != nil {
		p.tables, p.Note = nil, withoutPath(err, path)
	}
	return p
}

// withoutPath is the text of an error without the path, which stands before it already.
func withoutPath(err error, path string) string {
	var p *fs.PathError
	if errors.As(err, &p) && p.Path == path {
		return p.Err.Error()
	}
	return strings.TrimPrefix(err.Error(), path+": ")
}
