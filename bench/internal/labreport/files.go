package labreport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
)

// The names of the files.
const (
	ResultsFile = "results.json"
	PageFile    = "report.html"
	PictureFile = "fpr.svg" // rates by shape of keys
)

// Read reads results.
func Read(path string) (*Results, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(Results)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(r.Parts) == 0 {
		return nil, fmt.Errorf("%s: not the %s of bench report", path, ResultsFile)
	}
	return r, nil
}

// Compare compares r with the results in a file.
func (r *Results) Compare(path string) error {
	old, err := Read(path)
	if err == nil {
		r.Compared, err = compare(old, r)
	}
	return err
}

// Write writes the results, the page and the picture into dir. Both are made of the results as they
// are read again.
func (r *Results) Write(dir string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, ResultsFile)
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		return err
	}
	read, err := Read(path)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(dir, PageFile), read.WritePage); err != nil {
		return err
	}
	p, err := read.decode()
	if err != nil || len(p.shapes) == 0 {
		return err
	}
	picture, err := ratebench.ShapeFigure(p.shapes)
	if err != nil {
		return err
	}
	return write(filepath.Join(dir, PictureFile), func(w io.Writer) error {
		_, err := picture.WriteTo(w)
		return err
	})
}

// write writes a file with f.
func write(path string, f func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(f(file), file.Close())
}
