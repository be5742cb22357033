package policy

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// The cases in testdata/encodings were computed in Python from the text of FORMAT.md, by a program
// that shares nothing with this package; the README there tells what their fields are.

type encodingCase struct {
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

	// A filter with its keys by recipe.
	Start, N       uint64
	FilterLen      int    `json:"filter_len"`
	FilterSHA256   string `json:"filter_sha256"`
	AbsentStart    uint64 `json:"absent_start"`
	AbsentCount    uint64 `json:"absent_count"`
	FalsePositives int    `json:"false_positives"`
}

// recipeKey returns key i of a recipe.
func (c encodingCase) recipeKey(i uint64) []byte {
	switch c.Recipe {
	case "length": // i bytes
		var key []byte
		for x, j := splitmix(c.Seed+i), uint64(1); uint64(len(key)) < i; j++ {
			key = binary.LittleEndian.AppendUint64(key, splitmix(x+j))
		}
		return key[:i]
	case "pairs_le64": // two of each
		return binary.LittleEndian.AppendUint64(nil, splitmix(c.Seed+i/2))
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

func (c encodingCase) recipeKeys(start, n uint64) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = c.recipeKey(start + uint64(i))
	}
	return keys
}

// encodingCases is how many cases of each kind the files have.
var encodingCases = map[string]map[string]int{
	"hash":   {"hash": 338},
	"ribbon": {"filter": 350, "digest": 645, "match": 1210},
}

// Filters and hashes are those of a program that was written from FORMAT.md alone.
func TestVectors(t *testing.T) {
	for file, want := range encodingCases {
		t.Run(file, func(t *testing.T) {
			cases := map[string]int{}
			policyOf := func(c encodingCase) *Policy {
				return testkit.Must(NewRibbon(c.BitsPerKey))
			}
			readGolden(t, filepath.Join("..", "encodings", file+".jsonl"), func(c encodingCase) {
				cases[c.Kind]++
				switch c.Kind {
				case "hash":
					require.Equal(t, c.Hash, fmt.Sprintf("%016x", ribbon.Hash(c.recipeKey(c.Number))),
						c.Name)
				case "filter": // few keys
					keys := make([][]byte, len(c.Keys))
					for i, key := range c.Keys {
						keys[i] = key
					}
					require.Equal(t, []byte(c.Filter), requireWriters(t, c.Name, policyOf(c), keys),
						c.Name)
					requireProbeAnswers(t, c)
				// keys by recipe, the SHA-256 of their filter, and its false positives
				case "digest":
					filter := c.requireRecipe(t, policyOf(c))
					require.Len(t, filter, c.FilterLen, c.Name)
					require.Equal(t, c.FilterSHA256, fmt.Sprintf("%x", sha256.Sum256(filter)),
						c.Name)
				case "match": // filters that hardly any writer makes
					requireProbeAnswers(t, c)
				}
			})
			require.Equal(t, want, cases)
		})
	}
}

// requireRecipe makes the filter of a case whose keys have a recipe, and compares the number of its
// false positives.
func (c encodingCase) requireRecipe(t *testing.T, p *Policy) []byte {
	filter := requireWriters(t, c.Name, p, c.recipeKeys(c.Start, c.N))
	falsePositives := 0
	for _, found := range requireSameAnswers(t, c.Name, filter,
		c.recipeKeys(c.AbsentStart, c.AbsentCount)) {
		if found {
			falsePositives++
		}
	}
	require.Equal(t, c.FalsePositives, falsePositives, c.Name)
	return filter
}

// requireWriters builds the filter of keys, requires that all readers find all keys in it, and
// returns it.
func requireWriters(t *testing.T, name string, p *Policy, keys [][]byte) []byte {
	filter := p.AppendFilter(nil, keys)
	require.Equal(t, uint64(len(filter)), p.FilterSize(len(keys)), name)
	require.NotContains(t, requireSameAnswers(t, name, filter, keys), false, name)
	return filter
}

// requireProbeAnswers asks every reader about the probes of a case.
func requireProbeAnswers(t *testing.T, c encodingCase) {
	keys, want := make([][]byte, len(c.Probes)), make([]bool, len(c.Probes))
	for i, p := range c.Probes {
		keys[i], want[i] = p.Key, p.MayContain
	}
	require.Equal(t, want, requireSameAnswers(t, c.Name, c.Filter, keys), c.Name)
}
