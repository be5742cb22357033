package policy_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README shows how Example begins, which is compiled and run.
func TestREADME(t *testing.T) {
	example, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	_, shown, found := strings.Cut(string(example), "func Example() {\n")
	require.True(t, found)
	shown, _, found = strings.Cut(shown, `	fmt.Println(policy.MayContain(filter, []byte("foo")))`)
	require.True(t, found)
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	require.Contains(t, string(readme),
		"```go\n"+strings.ReplaceAll("\n"+shown, "\n\t", "\n")[1:]+"```")
}
