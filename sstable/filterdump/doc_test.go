package main

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

func readDoc(t *testing.T) string {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	return string(text)
}

// The package comment names all fields of the JSON, and all statuses.
func TestDoc(t *testing.T) {
	_, doc, found := strings.Cut(readDoc(t), "# JSON")
	require.True(t, found)
	for _, of := range []any{
		report{}, place{}, summary{}, scan.Result{}, tables.Info{}, tables.Filters{},
		analysis.Report{}, analysis.Plan{}, analysis.Totals{},
	} {
		for i := range reflect.TypeOf(of).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(of).Field(i).Tag.Get("json"), ",")
			if name != "" && name != "-" && name != "key" && name != "sample" { // which -json excludes
				require.Regexp(t, `\b`+regexp.QuoteMeta(name)+`\b`, doc)
			}
		}
	}
	for _, s := range []scan.Status{
		scan.Sound, scan.NoFilter, scan.Unverified, scan.FalseNegative, scan.Corrupt,
		scan.Unsupported, scan.Unreadable, scan.Vanished, scan.Unfinished,
	} {
		require.Contains(t, doc, string(s))
	}
}

// The package comment shows what its command prints.
func TestDocSample(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	doc := readDoc(t)
	require.NoError(t, os.Chdir(golden(".."))) // the command is given in the top directory
	defer func() { require.NoError(t, os.Chdir(here)) }()

	const path = "testdata/goleveldb/name2_none_1k"
	require.Contains(t, doc, "filterdump "+path+" describes")
	status, out, stderr := filterdump(t, path)
	require.Zero(t, status, stderr)
	sample := regexp.MustCompile(`(?m)^.`).ReplaceAllString(out, "\t$0")
	require.Contains(t, doc, "\n"+sample)
}
