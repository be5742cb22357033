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
		path := write(t, c.content)
		requireKeys(t, c.want, path, filepath.Dir(path))
	}
}

func TestRefusedText(t *testing.T) {
	for content, message := range map[string]string{
		"":                                 "there are no keys",
		"\n\r\n":                           "there are no keys",
		strings.Repeat("x", maxLine) + "x": "a line of more than 1048576 bytes: pass a file with",
	} {
		path := write(t, content)
		_, _, err := Read(context.Background(), path, false)
		require.ErrorContains(t, err, message)
		require.ErrorContains(t, err, path)
	}
}

// Keys that are no text are refused, and can be written in hexadecimal.
func TestBinary(t *testing.T) {
	for _, content := range []string{"a\n\x00b\n", "a\nb\xff\n", "\na\x7f\n", "a\na\rb\n"} {
		_, _, err := Read(context.Background(), write(t, content), false)
		require.ErrorContains(t, err, "keys.txt:2: no text: write the bytes of binary keys in")
	}
	keys, _, err := Read(context.Background(), write(t, "0x0a00\n\nFf\r\n0a00\n"), true)
	require.NoError(t, err)
	require.Equal(t, List{{0x0a, 0}, {0xff}}, keys)
	for content, message := range map[string]string{
		"00\n0x123\n": "keys.txt:2: encoding/hex: odd length hex string: with --hex, write two ",
		"xyz\n":       "keys.txt:1: encoding/hex: invalid byte",
	} {
		_, _, err := Read(context.Background(), write(t, content), true)
		require.ErrorContains(t, err, message)
	}
}

// A file with too many keys is refused. Repetitions take no room.
func TestTooMuchText(t *testing.T) {
	var lines strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&lines, "key %d\n", i%1000)
	}
	path := write(t, lines.String())
	keys, sampled, err := read(context.Background(), path, false, 3000*(sliceBytes+7))
	require.NoError(t, err)
	require.False(t, sampled)
	require.Len(t, keys, 1000)
	_, _, err = read(context.Background(), path, false, 1000*sliceBytes)
	require.ErrorContains(t, err, "keys.txt: more than 0 MiB of keys: pass a run of neighbors")
}
