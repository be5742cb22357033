package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The package comment shows what its command prints.
func TestDocSample(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	require.NoError(t, os.Chdir(golden(".."))) // the command is given in the top directory
	defer func() { require.NoError(t, os.Chdir(here)) }()

	const path = "testdata/goleveldb/name2_none_1k"
	require.Contains(t, string(doc), "filterdump "+path+" prints")
	status, out, stderr := filterdump(t, path)
	require.Zero(t, status, stderr)
	sample := regexp.MustCompile(`(?m)^.`).ReplaceAllString(out, "\t$0")
	require.Contains(t, string(doc), "\n"+sample)
}
