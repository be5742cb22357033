package pebblev2_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README shows openDB of the example, which is compiled and run.
func TestREADME(t *testing.T) {
	example, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	_, openDB, found := strings.Cut(string(example), "func openDB(")
	require.True(t, found)
	openDB, _, found = strings.Cut(openDB, "\n}\n")
	require.True(t, found)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	require.Contains(t, string(readme), "func openDB("+openDB+"\n}\n")
}
