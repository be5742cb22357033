package policy

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The cases in testdata/encodings were computed in Python from the text of the package comment, by a program that shares
// nothing with this package; the README there tells what their fields are.

type blockedCase struct {
	Kind, Name string

	// An input by recipe.
	Recipe string
	Seed   uint64
	Number uint64
	Hash   string

	// A filter, and answers.
	BitsPerKey float64 `json:"bits_per_key"`
	Keys       []hexBytes
	Filter     hexBytes
	Probes     []struct {
		Key        hexBytes
		MayContain bool `json:"may_contain"`
	}

	// A large filter, with its keys by recipe.
	Start, N       uint64
	FilterLen      int    `json:"filter_len"`
	FilterSHA256   string `json:"filter_sha256"`
	AbsentStart    uint64 `json:"absent_start"`
	AbsentCount    uint64 `json:"absent_count"`
	FalsePositives int    `json:"false_positives"`
}

// readBlocked calls f with every case of the kind, and requires that there are n of them.
func readBlocked(t *testing.T, kind string, n int, f func(c blockedCase)) {
	seen := 0
	readGolden(t, filepath.Join("..", "encodings", "blocked.jsonl"), func(c blockedCase) {
		if c.Kind == kind {
			seen++
			f(c)
		}
	})
	require.Equal(t, n, seen)
}

// recipeKey returns key i of a recipe.
func (c blockedCase) recipeKey(i uint64) []byte {
	switch c.Recipe {
	case "length": // i bytes
		var key []byte
		for x, j := splitmix(c.Seed+i), uint64(1); uint64(len(key)) < i; j++ {
			key = binary.LittleEndian.AppendUint64(key, splitmix(x+j))
		}
		return key[:i]
	case "sanity": // the start of the buffer that xxHash tests itself with
		key := make([]byte, i)
		for x, j := uint64(2654435761), 0; j < len(key); j++ {
			key[j] = byte(x >> 56)
			x *= 11400714785074694797
		}
		return key
	}
	return appendRecipe(nil, c.Recipe, c.Seed, i, 0)
}

func (c blockedCase) recipeKeys(start, n uint64) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = c.recipeKey(start + uint64(i))
	}
	return keys
}

func TestBlockedVectorsHash(t *testing.T) {
	readBlocked(t, "hash", 338, func(c blockedCase) {
		require.Equal(t, c.Hash, fmt.Sprintf("%016x", keyHash(c.recipeKey(c.Number))), c.Name)
	})
}

// requireBlockedWriters makes the filter of keys in every way, and returns it.
func requireBlockedWriters(t *testing.T, c blockedCase, keys [][]byte) []byte {
	b := mustBlocked(t, c.BitsPerKey)
	filter := b.AppendFilter(nil, keys)
	builder := b.NewBuilder()
	for _, key := range keys {
		builder.Add(key)
	}
	require.Equal(t, len(keys), builder.Len(), c.Name)
	require.Equal(t, len(filter), builder.Size(), c.Name)
	require.Equal(t, filter, builder.Finish(nil), c.Name)
	return filter
}

// requireSameAnswers asks every reader, and returns their one answer about each key.
func requireSameAnswers(t *testing.T, name string, filter []byte, keys [][]byte) []bool {
	exact, blocked := mustBloom(t, 7), mustBlocked(t, 30) // settings that the filter does not have
	answers := make([]bool, len(keys))
	MayContainMany(filter, keys, answers)
	many := make([]bool, len(keys))
	blocked.MayContainMany(filter, keys, many)
	require.Equal(t, answers, many, name)
	for i, key := range keys {
		if MayContain(filter, key) != answers[i] || exact.MayContain(filter, key) != answers[i] || blocked.MayContain(filter, key) != answers[i] {
			require.Fail(t, "readers disagree", "%s, key %x: among many %v, alone %v, exact policy %v, blocked policy %v", name, key,
				answers[i], MayContain(filter, key), exact.MayContain(filter, key), blocked.MayContain(filter, key))
		}
	}
	return answers
}

// requireProbeAnswers asks every reader about the probes of a case, alone and among each other.
func requireProbeAnswers(t *testing.T, c blockedCase) {
	keys, want := make([][]byte, len(c.Probes)), make([]bool, len(c.Probes))
	for i, p := range c.Probes {
		keys[i], want[i] = p.Key, p.MayContain
	}
	require.Equal(t, want, requireSameAnswers(t, c.Name, c.Filter, keys), c.Name)
}

func TestBlockedVectorsFilter(t *testing.T) {
	readBlocked(t, "filter", 153, func(c blockedCase) {
		keys := make([][]byte, len(c.Keys))
		for i, key := range c.Keys {
			keys[i] = key
		}
		require.Equal(t, []byte(c.Filter), requireBlockedWriters(t, c, keys), c.Name)
		require.NotContains(t, requireSameAnswers(t, c.Name, c.Filter, keys), false, c.Name)
		requireProbeAnswers(t, c)
	})
}

// Large filters, by their SHA-256, and their exact number of false positives.
func TestBlockedVectorsDigest(t *testing.T) {
	readBlocked(t, "digest", 41, func(c blockedCase) {
		keys := c.recipeKeys(c.Start, c.N)
		filter := requireBlockedWriters(t, c, keys)
		require.Len(t, filter, c.FilterLen, c.Name)
		require.Equal(t, c.FilterSHA256, fmt.Sprintf("%x", sha256.Sum256(filter)), c.Name)
		require.NotContains(t, requireSameAnswers(t, c.Name, filter, keys), false, c.Name)

		falsePositives := 0
		for _, found := range requireSameAnswers(t, c.Name, filter, c.recipeKeys(c.AbsentStart, c.AbsentCount)) {
			if found {
				falsePositives++
			}
		}
		require.Equal(t, c.FalsePositives, falsePositives, c.Name)
	})
}

// Filters that no writer makes.
func TestBlockedVectorsMatch(t *testing.T) {
	readBlocked(t, "match", 400, func(c blockedCase) { requireProbeAnswers(t, c) })
}
