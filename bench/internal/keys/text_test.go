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
		{"\xff\x00\n\xfe\n", []string{"\xfe", "\xff\x00"}},
		{"a\rb\n", []string{"a\rb"}},
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
		_, err := Read(context.Background(), path, false)
		require.ErrorContains(t, err, message)
		require.ErrorContains(t, err, path)
	}
}

// Keys that are no text are noticed, and can be written in hexadecimal.
func TestBinary(t *testing.T) {
	for content, binary := range map[string]bool{
		"a\tb\r\n\u00e9 \u20ac\n": false,
		"a\n\x00b\n":              true,
		"a\nb\xff\n":              true,
		"a\x7f\n":                 true,
		"a\rb\n":                  true,
	} {
		r, err := Read(context.Background(), write(t, content), false)
		require.NoError(t, err)
		require.Equal(t, binary, r.Binary, "%q", content)
	}
	r, err := Read(context.Background(), write(t, "0x0a00\n\nFf\r\n0a00\n"), true)
	require.NoError(t, err)
	require.Equal(t, [][]byte{{0x0a, 0}, {0xff}}, [][]byte(r.Keys))
	require.False(t, r.Binary)
	for content, message := range map[string]string{
		"00\n0x123\n": "keys.txt:2: encoding/hex: odd length hex string: with --hex, write two ",
		"xyz\n":       "keys.txt:1: encoding/hex: invalid byte",
	} {
		_, err := Read(context.Background(), write(t, content), true)
		require.ErrorContains(t, err, message)
	}
}

// Repetitions do not fill the memory.
func TestRepetitions(t *testing.T) {
	path := write(t, strings.Repeat("one\ntwo\nthree\n", 1000))
	r, err := read(context.Background(), path, false, 20*(sliceBytes+5))
	require.NoError(t, err)
	require.False(t, r.Sampled)
	require.Len(t, r.Keys, 3)
}

// A file with too many keys is refused. Repetitions take no room.
func TestTooMuchText(t *testing.T) {
	var lines strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&lines, "key %d\n", i%1000)
	}
	path := write(t, lines.String())
	r, err := read(context.Background(), path, false, 1<<20)
	require.NoError(t, err)
	require.Len(t, r.Keys, 1000)
	_, err = read(context.Background(), path, false, 30<<10)
	require.ErrorContains(t, err, "keys.txt: more than 0 MiB of keys: pass a run of neighbors")
}
