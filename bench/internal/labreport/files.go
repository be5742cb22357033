package labreport

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// The names of the files.
const (
	ResultsFile = "results.json"
	PageFile    = "report.html"
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

// Write writes the results and the page into dir. The page is made of the results as they are read
// again.
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
	page, err := os.Create(filepath.Join(dir, PageFile))
	if err != nil {
		return err
	}
	if err := read.WritePage(page); err != nil {
		page.Close()
		return err
	}
	return page.Close()
}
