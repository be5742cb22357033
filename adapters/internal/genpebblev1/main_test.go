package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Package pebblev1 consists of the files that this program writes and those written by hand. The
// tests that git ignores are up to date, or not there.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	want, err := generate("../..")
	require.NoError(t, err)
	require.NotEmpty(t, want)
	found, err := filepath.Glob("../../pebblev1/*.go")
	require.NoError(t, err)
	for _, path := range found {
		name := filepath.Base(path)
		if slices.Contains(byHand, name) && want[name] == nil {
			continue
		}
		require.Contains(t, want, name, "no counterpart in package pebblev2: delete it")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want[name]), string(text),
			"%s: run go generate ./adapters/pebblev1", name)
		delete(want, name)
	}
	for name := range want {
		require.True(t, strings.HasSuffix(name, "_test.go") && name != "example_test.go",
			"%s is missing: run go generate ./adapters/pebblev1", name)
	}
	doc, err := os.ReadFile("../../pebblev1/doc.go")
	require.NoError(t, err)
	for _, name := range byHand {
		require.Contains(t, string(doc), " "+name)
	}
}
