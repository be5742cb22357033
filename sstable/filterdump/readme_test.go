package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README shows what its command prints.
func TestREADME(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	require.NoError(t, os.Chdir(golden(".."))) // the command is given in the top directory
	defer func() { require.NoError(t, os.Chdir(here)) }()

	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	const path = "testdata/goleveldb/name2_none_1k"
	require.Contains(t, string(readme), "`go run ./sstable/filterdump "+path+"`")
	status, out, stderr := filterdump(t, path)
	require.Zero(t, status, stderr)
	require.Contains(t, string(readme), "```\n"+out+"```\n")
}
