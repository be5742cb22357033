package keys

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
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

// Of a file of any order with too many keys come all keys of a range, within the limit.
func TestSampledText(t *testing.T) {
	const n, room = 100_000, 10_000
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("key%05d\n", i)
	}
	rng := rand.New(rand.NewSource(1))
	backward, shuffled := slices.Clone(lines), slices.Clone(lines)
	slices.Reverse(backward)
	rng.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for name, order := range map[string][]string{
		"sorted": lines, "backward": backward, "shuffled": shuffled,
	} {
		r, err := read(context.Background(), write(t, strings.Join(order, "")), false, room*(sliceBytes+8))
		require.NoError(t, err)
		require.True(t, r.Sampled, name)
		list := r.Keys
		require.InDelta(t, room*3/4, len(list), room/4, name) // a half to all of the room
		var first int
		_, err = fmt.Sscanf(string(list[0]), "key%d", &first)
		require.NoError(t, err)
		for i, key := range list {
			require.Equal(t, fmt.Sprintf("key%05d", first+i), string(key), name)
		}
		if name == "shuffled" {
			require.InDelta(t, n/2, first, n/8, "in the middle of all keys")
		}
	}
}

// It ends with keys of any length.
func TestNarrowed(t *testing.T) {
	c := collector{limit: 100}
	for _, key := range []string{"b", "c", strings.Repeat("d", 99), "a"} {
		for !c.add([]byte(key)) {
			c.narrow()
		}
	}
	require.LessOrEqual(t, len(c.keys), 3)
}
