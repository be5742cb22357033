// Package report presents what a benchmark measured: as text for a terminal, as Markdown for
// documents, and as JSON for programs.
package report

import (
	"bytes"
	"encoding/json"
	"io"
)

// A Report is what one run of a benchmark measured, with what it depends on. Its JSON has all but
// the chart and the tables.
type Report struct {
	Conclusion  string      `json:"conclusion,omitempty"` // the first line
	BarsTitle   string      `json:"-"`
	Bars        []Bar       `json:"-"`                    // a chart
	Command     string      `json:"command"`              // as it is typed
	Incomplete  string      `json:"incomplete,omitempty"` // why the benchmark ended early
	Environment Environment `json:"environment"`
	Notes       []string    `json:"notes,omitempty"` // paragraphs
	Tables      []Table     `json:"-"`               // sum the records up
	Records     any         `json:"records"`         // slices of structs, or structs of these
}

// A Bar shows a figure in a chart of several groups.
type Bar struct {
	Group, Label string
	Value        float64
}

// WriteJSON writes the report as JSON, with a line for each record.
func (r *Report) WriteJSON(w io.Writer) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	text = bytes.ReplaceAll(text, []byte("},{"), []byte("},\n{"))
	_, err = w.Write(append(text, '\n'))
	return err
}
