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
// copies that git ignores are up to date, or not there.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	const from, to = "../../pebblev2", "../../pebblev1"
	want, err := generate(from)
	require.NoError(t, err)
	require.NotEmpty(t, want)
	found, err := filepath.Glob(filepath.Join(to, "*.go"))
	require.NoError(t, err)
	for _, path := range found {
		name := filepath.Base(path)
		if slices.Contains(byHand, name) {
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
		require.True(t, strings.HasPrefix(name, ignored),
			"%s is missing: run go generate ./adapters/pebblev1", name)
	}
	doc, err := os.ReadFile(filepath.Join(to, "doc.go"))
	require.NoError(t, err)
	for _, name := range byHand {
		require.Contains(t, string(doc), " "+name)
		paths, err := filepath.Glob(filepath.Join("../../pebblev[12]", name))
		require.NoError(t, err)
		require.NotEmpty(t, paths, name)
	}
}
