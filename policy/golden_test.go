package policy

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// The files in testdata/leveldb were written by C++ LevelDB; its README says how, and what their
// fields are.

type goldenProbe struct {
	Key   hexBytes
	Match bool
}

// readGolden calls f with each line of a golden file, decoded, and returns their number.
func readGolden[T any](t *testing.T, name string, f func(c T)) (n int) {
	file, err := os.Open(filepath.Join("..", "testdata", "leveldb", name))
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for ; lines.Scan(); n++ {
		var c T
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		f(c)
	}
	require.NoError(t, lines.Err())
	return n
}

func bloomOfBits(bitsPerKey float64) *Policy { // NewBloom refuses some
	return &Policy{name: Name, setting: builder.Setting{BitsPerKey: bitsPerKey}}
}

// Every filter that C++ LevelDB made comes out the same from AppendFilter and from a Builder, and
// answers the same to a reader of the same setting and of another one.
func TestGoldenVectors(t *testing.T) {
	type vector struct {
		Name       string
		BitsPerKey int `json:"bits_per_key"`
		Keys       []hexBytes
		Filter     hexBytes
		Probes     []goldenProbe
	}
	other := testkit.Must(NewBloom(25))
	n := readGolden(t, "vectors.jsonl", func(c vector) {
		b := bloomOfBits(float64(c.BitsPerKey))
		keys := make([][]byte, len(c.Keys))
		builder := b.NewBuilder()
		for i, key := range c.Keys {
			keys[i] = key
			builder.Add(key)
		}
		require.Equal(t, uint64(len(c.Filter)), b.FilterSize(len(keys)), c.Name)
		require.Equal(t, []byte(c.Filter), b.AppendFilter(nil, keys), c.Name)
		require.Equal(t, []byte(c.Filter), builder.Finish(nil), c.Name)
		for _, p := range c.Probes {
			require.Equal(t, p.Match, b.MayContain(c.Filter, p.Key), "%s, key %x", c.Name, p.Key)
			require.Equal(t, p.Match, other.MayContain(c.Filter, p.Key),
				"%s, key %x, another setting", c.Name, p.Key)
		}
	})
	require.Equal(t, 441, n)
}

// KeyMayMatch of C++ LevelDB on filters of odd lengths and last bytes.
func TestGoldenMatch(t *testing.T) {
	type match struct {
		Name   string
		Filter hexBytes
		Probes []goldenProbe
	}
	n := readGolden(t, "match.jsonl", func(c match) {
		for _, p := range c.Probes {
			require.Equal(t, p.Match, MayContain(c.Filter, p.Key), "%s, key %x", c.Name, p.Key)
		}
	})
	require.Equal(t, 365, n)
}

// Large filters, by their SHA-256, and their exact number of false positives.
func TestGoldenDigests(t *testing.T) {
	type digest struct {
		Name           string
		Recipe         string
		Seed           uint64
		Mod            uint64
		N              uint64
		BitsPerKey     int    `json:"bits_per_key"`
		FilterLen      int    `json:"filter_len"`
		FilterSHA256   string `json:"filter_sha256"`
		AbsentRecipe   string `json:"absent_recipe"`
		AbsentStart    uint64 `json:"absent_start"`
		AbsentCount    uint64 `json:"absent_count"`
		FalsePositives int    `json:"false_positives"`
		Huge           bool
	}
	n := readGolden(t, "digests.jsonl", func(c digest) {
		t.Run(c.Name, func(t *testing.T) {
			if c.N > 1_000_000 || c.Huge {
				testkit.Large(t)
			}
			b := bloomOfBits(float64(c.BitsPerKey))
			builder := b.NewBuilder()
			var key []byte
			for i := range c.N {
				key = appendRecipe(key[:0], c.Recipe, c.Seed, i, c.Mod)
				builder.Add(key)
			}
			filter := builder.Finish(nil)
			require.Len(t, filter, c.FilterLen)
			require.Equal(t, c.FilterSHA256, fmt.Sprintf("%x", sha256.Sum256(filter)))

			falsePositives := 0
			for i := range c.AbsentCount {
				key = appendRecipe(key[:0], c.AbsentRecipe, c.Seed, c.AbsentStart+i, 0)
				if b.MayContain(filter, key) {
					falsePositives++
				}
			}
			require.Equal(t, c.FalsePositives, falsePositives)
		})
	})
	require.Equal(t, 36, n)
}

// appendRecipe appends key i of a recipe of the golden digests; testdata/leveldb/README.md
// describes them.
func appendRecipe(dst []byte, recipe string, seed, i, mod uint64) []byte {
	le := binary.LittleEndian.AppendUint64
	switch recipe {
	case "splitmix_le64":
		return le(dst, splitmix(seed+i))
	case "user_dec16":
		return fmt.Appendf(dst, "user%016d", seed+i)
	case "dec":
		return fmt.Appendf(dst, "%d", seed+i)
	case "dup_mod":
		return le(dst, splitmix(seed+i%mod))
	case "varlen":
		x := splitmix(seed + i)
		tail := make([]byte, 0, 40)
		for j := uint64(1); uint64(len(tail)) < x%33; j++ {
			tail = le(tail, splitmix(x+j))
		}
		return append(le(dst, i), tail[:x%33]...)
	}
	panic("unknown recipe " + recipe)
}

func splitmix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hexBytes is a byte string that the golden files have in hexadecimal.
type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}
