// Package report presents what a benchmark measured: as text for a terminal, as Markdown for
// documents, and as JSON for programs.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	Notes       []string    `json:"notes,omitempty"` // paragraphs, and lines that begin with Code
	Tables      []Table     `json:"-"`               // sum the records up
	Records     any         `json:"-"`               // slices of structs, or a struct of such slices
}

// A Bar shows a figure in a chart of several groups.
type Bar struct {
	Group, Label string
	Value        float64
}

// Code begins a line that is written as it is, such as a command.
const Code = "    "

// WriteJSON writes the report as JSON, with a line for each record.
func (r *Report) WriteJSON(w io.Writer) error {
	head, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	records, err := json.Marshal(r.Records)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s,\n \"records\": %s\n}\n", bytes.TrimSuffix(head, []byte("\n}")),
		bytes.ReplaceAll(records, []byte("},{"), []byte("},\n{")))
	return err
}
