package keys

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// write writes a file alone in its directory.
func write(t *testing.T, content string) string {
	path := filepath.Join(t.TempDir(), "keys.txt")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o400))
	return path
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		content string
		want    []string
	}{
		{"b\na\n", []string{"a", "b"}},
		{"a\r\nb\r\n", []string{"a", "b"}},
		{"\n\na\n\r\n\nb", []string{"a", "b"}}, // empty lines, and none ends the last
		{"b\na\nb\nb\n", []string{"a", "b"}},
		{"a \n a\na\n", []string{" a", "a", "a "}}, // spaces are bytes
		{"a\tb\r\n\u00e9 \u20ac\n", []string{"a\tb", "\u00e9 \u20ac"}},
	} {
		requireKeys(t, c.want, write(t, c.content))
	}
}

func TestRefusedText(t *testing.T) {
	for content, message := range map[string]string{
		"":                         "there are no keys",
		"\n\r\n":                   "there are no keys",
		strings.Repeat("x", 1<<16): "token too long",
		"a\n\x00b\n":               "keys.txt:2: no text: pass the database",
		"a\nb\xff\n":               "keys.txt:2: no text",
		"\na\x7f\n":                "keys.txt:2: no text",
		"a\na\rb\n":                "keys.txt:2: no text",
	} {
		path := write(t, content)
		_, _, err := Read(context.Background(), path)
		require.ErrorContains(t, err, message)
		require.ErrorContains(t, err, path)
	}
}

// A file with too many keys is refused. Repetitions take no room.
func TestTooMuchText(t *testing.T) {
	var lines strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&lines, "key %d\n", i%1000)
	}
	path := write(t, lines.String())
	keys, sampled, err := read(context.Background(), path, 3000*(sliceBytes+7))
	require.NoError(t, err)
	require.False(t, sampled)
	require.Len(t, keys, 1000)
	_, _, err = read(context.Background(), path, 1000*sliceBytes)
	require.ErrorContains(t, err, "keys.txt: more than 0 MiB of keys: pass a run of neighbors")
}
