package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
)

func readDoc(t *testing.T) string {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	return string(text)
}

// The package comment names all statuses.
func TestDoc(t *testing.T) {
	doc := readDoc(t)
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
	require.Contains(t, doc, "filterdump "+path+" prints")
	status, out, stderr := filterdump(t, path)
	require.Zero(t, status, stderr)
	sample := regexp.MustCompile(`(?m)^.`).ReplaceAllString(out, "\t$0")
	require.Contains(t, doc, "\n"+sample)
}
