// Package labreport makes one page of what the subcommands of bench measured: which filter, which
// setting, and what it costs. All of it comes from Results, so the page can be made again from the
// file of them.
package labreport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/bench/internal/verdict"
)

// The names of the files.
const (
	ResultsFile = "results.json"
	PageFile    = "report.html"
)

// Results is what results.json contains.
type Results struct {
	Command string        `json:"command"` // that made it
	Keys    string        `json:"keys"`    // the keys of the verdict, in words
	Own     bool          `json:"own"`     // they are the user's own
	Bits    float64       `json:"bits"`    // bits per key of the verdict
	Quick   bool          `json:"quick"`   // too small for conclusions about speed
	Disk    *verdict.Disk `json:"disk,omitempty"`
	Parts   []Part        `json:"parts"`
}

// A Part is what one run of a subcommand measured.
type Part struct {
	Name   string        `json:"name"`
	Error  string        `json:"error,omitempty"`
	Report report.Report `json:"report"`
}

// Measured reports whether the part measured anything before it ended.
func (p Part) Measured() bool { return len(p.Report.Records) > 0 }

// The names of the parts.
const (
	Engines  = "engines"
	TradeOff = "tradeoff" // rates against bits per key
)

// parts are the records of all parts. Those that are missing are empty.
type parts struct {
	engines  enginebench.Runs
	tradeOff []ratebench.Record
}

func (r *Results) decode() (p parts, err error) {
	into := map[string]any{Engines: &p.engines, TradeOff: &p.tradeOff}
	for _, part := range r.Parts {
		records := into[part.Name]
		if records == nil {
			return p, fmt.Errorf("no part is named %q", part.Name)
		}
		if !part.Measured() {
			continue
		}
		if err := json.Unmarshal(part.Report.Records, records); err != nil {
			return p, fmt.Errorf("the records of %s: %w", part.Name, err)
		}
	}
	return p, nil
}

func (r *Results) record(p parts) *verdict.Record {
	return &verdict.Record{Runs: p.engines, Bits: r.Bits, Own: r.Own, Disk: r.Disk}
}

// Verdicts returns a verdict for each engine.
func (r *Results) Verdicts() ([]verdict.Verdict, error) {
	p, err := r.decode()
	return r.record(p).Verdicts(), err
}

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

// Write writes the results and the page into dir. The page is made of the results as they are read
// again.
func (r *Results) Write(dir string) error {
	path := filepath.Join(dir, ResultsFile)
	err := write(path, func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	})
	if err != nil {
		return err
	}
	read, err := Read(path)
	if err != nil {
		return err
	}
	return write(filepath.Join(dir, PageFile), read.WritePage)
}

// write writes a file with f.
func write(path string, f func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(f(file), file.Close())
}
