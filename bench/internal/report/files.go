package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// WriteJSON writes one object: what was run and where, what each field means, and all records.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Command     string            `json:"command"`
		Complete    bool              `json:"complete"`
		Problem     string            `json:"problem,omitempty"`
		Environment Environment       `json:"environment"`
		Versions    map[string]any    `json:"versions"`
		Settings    map[string]any    `json:"settings"`
		Fields      map[string]string `json:"fields"`
		Records     any               `json:"records"`
		Conclusion  []string          `json:"conclusion,omitempty"`
	}{r.Command, r.Incomplete == nil, r.problem(), r.Environment,
		byName(r.Versions), byName(r.Settings),
		describe(reflect.TypeOf(r.Records).Elem(), ""), r.Records, r.Conclusion})
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

// WriteCSV writes a line for each record. The environment, the settings, and whether the report is
// complete, are columns of each line; lists are JSON.
func (r *Report) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	records := reflect.ValueOf(r.Records)
	for i := range records.Len() {
		names, values, err := flatten(records.Index(i))
		if err != nil {
			return err
		}
		environment, where, err := flatten(reflect.ValueOf(r.Environment))
		if err != nil {
			return err
		}
		names = append(append(names, "complete"), environment...)
		values = append(append(values, fmt.Sprint(r.Incomplete == nil)), where...)
		for _, s := range r.Versions {
			names = append(names, "version_"+strings.ReplaceAll(s.Name, " ", "_"))
			values = append(values, fmt.Sprint(s.Value))
		}
		for _, s := range r.Settings {
			names, values = append(names, "setting_"+s.Name), append(values, fmt.Sprint(s.Value))
		}
		if i == 0 {
			out.Write(names) // Flush keeps the first error for Error
		}
		out.Write(values)
	}
	out.Flush()
	return out.Error()
}

// flatten returns the names and the values of a struct's fields.
func flatten(v reflect.Value) (names, values []string, err error) {
	for i := range v.NumField() {
		value := fmt.Sprint(v.Field(i).Interface())
		if v.Field(i).Kind() == reflect.Slice {
			list, err := json.Marshal(v.Field(i).Interface())
			if err != nil {
				return nil, nil, err
			}
			value = string(list)
		}
		names = append(names, v.Type().Field(i).Tag.Get("json"))
		values = append(values, value)
	}
	return names, values, nil
}
