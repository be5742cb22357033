package main

import (
	"os"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/sstable/filterdump/verdict"
)

// A place is a PATH of the command line: a database directory with its tables, or a single table.
type place struct {
	Path string `json:"path"`
	Note string `json:"note,omitempty"` // why it could not be looked at

	// Unnamed is how many tables in the directory the manifest does not name. They are left out: a
	// killed process left them, or the database is still writing or deleting them.
	Unnamed int `json:"unnamed,omitempty"`

	// Verdict is what filters are worth to the database, nil if it was not counted.
	Verdict *verdict.Verdict `json:"verdict,omitempty"`

	structure *tables.Structure // nil without a manifest that can be read
	tables    []string          // their paths, sorted
	directory bool
}

func findPlace(path string) place {
	p := place{Path: path}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		p.directory = true
		p.structure, p.tables, err = tables.Of(path)
		if p.structure != nil {
			p.Unnamed = len(p.structure.Unnamed)
		}
	} else {
		p.tables = []string{path}
	}
	if err != nil {
		p.tables, p.Note = nil, scan.WithoutPath(err, path)
	}
	return p
}
