package report

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
)

// A File is a report as JSON: what was run and where, what each field means, and all records. The
// tables are there as text.
type File struct {
	Command     string            `json:"command"`
	Complete    bool              `json:"complete"`
	Problem     string            `json:"problem,omitempty"`
	Environment Environment       `json:"environment"`
	Versions    map[string]any    `json:"versions"`
	Settings    map[string]any    `json:"settings"`
	Fields      map[string]string `json:"fields"`
	Records     json.RawMessage   `json:"records"`
	Tables      []TextTable       `json:"tables"`
	Notes       []string          `json:"notes"`
	Conclusion  []string          `json:"conclusion,omitempty"`
}

// A TextTable is a Table with its cells as text.
type TextTable struct {
	Title   string     `json:"title"`
	Keys    int        `json:"keys"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// WriteJSON writes the report as a File.
func (r *Report) WriteJSON(w io.Writer) error {
	records, err := json.Marshal(r.Records)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(File{r.Command, r.Incomplete == nil, r.problem(), r.Environment,
		byName(r.Versions), byName(r.Settings), describe(reflect.TypeOf(r.Records).Elem(), ""),
		records, r.textTables(), r.Notes, r.Conclusion})
}

func (r *Report) textTables() (all []TextTable) {
	for _, t := range r.Tables {
		text := TextTable{Title: t.Title, Keys: t.Keys, Columns: t.Columns}
		for _, row := range t.Rows {
			var cells []string
			for _, cell := range row {
				cells = append(cells, format(cell))
			}
			text.Rows = append(text.Rows, cells)
		}
		all = append(all, text)
	}
	return all
}

func byName(settings []Setting) map[string]any {
	m := map[string]any{}
	for _, s := range settings {
		m[s.Name] = s.Value
	}
	return m
}

// describe returns what the fields of records mean, by their names. It panics if one says nothing.
func describe(record reflect.Type, prefix string) map[string]string {
	docs := map[string]string{}
	for i := range record.NumField() {
		f := record.Field(i)
		name, doc := f.Tag.Get("json"), f.Tag.Get("doc")
		if name == "" || doc == "" {
			panic(fmt.Sprintf("report: field %s of %s has no name or no "+
				"description", f.Name, record))
		}
		docs[prefix+name] = doc
		if f.Type.Kind() == reflect.Slice {
			for inner, doc := range describe(f.Type.Elem(), name+".") {
				docs[inner] = doc
			}
		}
	}
	return docs
}
