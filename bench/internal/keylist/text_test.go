package keylist

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

func sortedKeys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

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
		_, _, err := Read(path)
		require.ErrorContains(t, err, message)
		require.ErrorContains(t, err, path)
	}
}

// Repetitions do not fill the memory.
func TestRepetitions(t *testing.T) {
	path := write(t, strings.Repeat("one\ntwo\nthree\n", 1000))
	list, sampled, err := read(path, 20*(sliceBytes+5))
	require.NoError(t, err)
	require.False(t, sampled)
	require.Len(t, list, 3)
}

// Of a file of any order with too many keys comes a sample of runs of neighbors from all over the
// file, within the limit.
func TestSampledText(t *testing.T) {
	const n, room = 100_000, 10_000
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("key%05d\n", i)
	}
	rng := policytest.Rand(t, 1)
	backward, shuffled := slices.Clone(lines), slices.Clone(lines)
	slices.Reverse(backward)
	rng.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for name, order := range map[string][]string{
		"sorted": lines, "backward": backward, "shuffled": shuffled,
	} {
		list, sampled, err := read(write(t, strings.Join(order, "")), room*(sliceBytes+8))
		require.NoError(t, err)
		require.True(t, sampled, name)
		// A half is wanted; the 819 of 16,384 random keys that say where it is vary by 4 %.
		require.InDelta(t, room/2, len(list), 6*0.04*room/2, name)
		require.True(t, slices.IsSortedFunc(list, bytes.Compare))
		var runs [][]int
		for i, key := range list {
			at := number(t, key)
			if i == 0 || at != number(t, list[i-1])+1 {
				runs = append(runs, nil)
			}
			runs[len(runs)-1] = append(runs[len(runs)-1], at)
		}
		require.Len(t, runs, 8, name)
		for i, run := range runs { // of 102 points each
			require.InDelta(t, room/16, len(run), 6*0.1*room/16, name)
			require.InDelta(t, i*n/8, run[0], 0.03*n, name)
		}
	}
}

// What cannot be read twice is refused only if it is too large.
func TestPipe(t *testing.T) {
	for _, c := range []struct{ keys, limit int }{{100, 10_000}, {1000, 10_000}} {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		go func() {
			defer w.Close()
			for i := range c.keys {
				fmt.Fprintf(w, "key%05d\n", i)
			}
		}()
		list, _, err := read(fmt.Sprintf("/dev/fd/%d", r.Fd()), c.limit)
		if c.keys > 100 {
			require.ErrorContains(t, err, "cannot be read twice: pass a file that can")
		} else {
			require.NoError(t, err)
			require.Len(t, list, c.keys)
		}
		require.NoError(t, r.Close())
	}
}
