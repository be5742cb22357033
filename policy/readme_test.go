package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README of the repository quotes whole files that are compiled and run.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	for _, path := range []string{
		"../adapters/goleveldb/example_open_test.go",
		"../adapters/pebblev2/example_open_test.go",
	} {
		file, err := os.ReadFile(filepath.FromSlash(path))
		require.NoError(t, err)
		_, code, found := strings.Cut(string(file), "_test\n\n")
		require.True(t, found)
		require.Contains(t, string(readme), "```go\n"+code+"```\n", path)
	}
}
