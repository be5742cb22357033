// Package report presents what a benchmark measured: as text for a terminal, as Markdown for
// documents, and as JSON for programs.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
)

// A Report is what one run of a benchmark measured, with what it depends on. Its JSON has the same
// fields.
type Report struct {
	Title       string            `json:"title,omitempty"`      // what it is, if that needs saying
	Command     string            `json:"command"`              // as it is typed
	Incomplete  string            `json:"incomplete,omitempty"` // why the benchmark ended early
	Environment Environment       `json:"environment"`
	Tables      []Table           `json:"tables"`           // sum the records up
	Notes       []string          `json:"notes,omitempty"`  // paragraphs, and lines that begin with Code
	Fields      map[string]string `json:"fields,omitempty"` // what the fields of records mean
	Records     json.RawMessage   `json:"records,omitempty"`
}

// Code begins a line that is written as it is, such as a command.
const Code = "    "

// SetRecords sets what was measured, a slice of structs: one for each turn, run or cell. The tags
// "json" and "doc" name and describe the fields. It panics if one has none, or is not finite.
func (r *Report) SetRecords(records any) {
	var err error
	if r.Records, err = json.Marshal(records); err != nil {
		panic(err)
	}
	r.Fields = map[string]string{}
	describe(r.Fields, reflect.TypeOf(records).Elem(), "")
}

// describe adds what the fields of a type mean.
func describe(docs map[string]string, record reflect.Type, prefix string) {
	for i := range record.NumField() {
		f := record.Field(i)
		name, doc := f.Tag.Get("json"), f.Tag.Get("doc")
		if name == "" || doc == "" {
			panic(fmt.Sprintf("report: field %s of %s has no name or no description", f.Name, record))
		}
		docs[prefix+name] = doc
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
			describe(docs, f.Type.Elem(), name+".")
		}
	}
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	return encoder.Encode(r)
}
