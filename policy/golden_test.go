package policy

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// A goldenCase is a line of a file in testdata/leveldb, which C++ LevelDB wrote, or in
// testdata/encodings, which was computed from FORMAT.md by a program that shares nothing with this
// package. The READMEs there say what the cases are.
type goldenCase struct {
	Name       string
	BitsPerKey *float64 `json:"bits_per_key"` // nil: the filter is an input
	Keys       []hexBytes
	Filter     hexBytes
	Probes     []struct {
		Key        hexBytes
		Match      bool // in testdata/leveldb
		MayContain bool `json:"may_contain"` // in testdata/encodings
	}

	// Keys by recipe, the SHA-256 of their filter, and its false positives.
	Recipe         string
	Seed, Mod      uint64
	Start, N       uint64
	FilterLen      int    `json:"filter_len"`
	FilterSHA256   string `json:"filter_sha256"`
	AbsentRecipe   string `json:"absent_recipe"` // empty: that of the keys
	AbsentStart    uint64 `json:"absent_start"`
	AbsentCount    uint64 `json:"absent_count"`
	FalsePositives int    `json:"false_positives"`
	Huge           bool

	// The hash of an input by recipe.
	Number uint64
	Hash   string
}

// Filters, answers and hashes are those of the programs that wrote the files: filters large and
// small, of one key and of none, and filters of odd lengths and last bytes.
func TestGolden(t *testing.T) {
	for file, cases := range map[string]int{
		"leveldb/vectors": 441, "leveldb/match": 365, "leveldb/digests": 36,
		"encodings/hash": 338, "encodings/ribbon": 2205,
	} {
		t.Run(file, func(t *testing.T) {
			f, err := os.Open("../testdata/" + file + ".jsonl")
			require.NoError(t, err)
			defer f.Close()
			lines := bufio.NewScanner(f)
			lines.Buffer(nil, 1<<20)
			for lines.Scan() {
				cases--
				var c goldenCase
				require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
				if (c.N > 1_000_000 || c.Huge) && !testkit.IsLarge() {
					continue
				}
				c.requireSame(t, file == "encodings/ribbon")
			}
			require.NoError(t, lines.Err())
			require.Zero(t, cases)
		})
	}
}

func (c goldenCase) requireSame(t *testing.T, ribbonFilter bool) {
	if c.Hash != "" {
		require.Equal(t, c.Hash, fmt.Sprintf("%016x", ribbon.Hash(c.key(c.Recipe, c.Number))), c.Name)
		return
	}
	filter := []byte(c.Filter)
	if c.BitsPerKey != nil {
		p := bloomOfBits(*c.BitsPerKey)
		p.ribbon = ribbonFilter
		filter = c.requireBuilt(t, p)
	}
	for _, p := range c.Probes {
		require.Equal(t, p.Match || p.MayContain, ask(t, filter, p.Key), "%s, key %x", c.Name, p.Key)
	}
	recipe, falsePositives := c.Recipe, 0
	if c.AbsentRecipe != "" {
		recipe = c.AbsentRecipe
	}
	for i := range c.AbsentCount {
		if MayContain(filter, c.key(recipe, c.AbsentStart+i)) {
			falsePositives++
		}
	}
	require.Equal(t, c.FalsePositives, falsePositives, c.Name)
}

// requireBuilt builds the filter, compares it, and looks keys up.
func (c goldenCase) requireBuilt(t *testing.T, p *Policy) []byte {
	builder := p.NewBuilder()
	for key := range c.keys {
		builder.Add(key)
	}
	require.Equal(t, len(c.Keys)+int(c.N), builder.Len(), c.Name)
	filter := builder.Finish(nil)
	require.EqualValues(t, len(filter), p.FilterSize(len(c.Keys)+int(c.N)), c.Name)
	if c.FilterSHA256 == "" {
		require.Equal(t, []byte(c.Filter), filter, c.Name)
	} else {
		require.Len(t, filter, c.FilterLen, c.Name)
		require.Equal(t, c.FilterSHA256, fmt.Sprintf("%x", sha256.Sum256(filter)), c.Name)
	}
	looked := 0
	for key := range c.keys {
		require.True(t, ask(t, filter, key), "%s, key %x", c.Name, key)
		if looked++; looked == 5000 {
			break
		}
	}
	return filter
}

func bloomOfBits(bitsPerKey float64) *Policy { // NewBloom refuses some
	return &Policy{name: NameLevelDB, setting: builder.Setting{BitsPerKey: bitsPerKey}}
}

// keys calls yield for the keys of the filter.
func (c goldenCase) keys(yield func([]byte) bool) {
	for _, key := range c.Keys {
		if !yield(key) {
			return
		}
	}
	for i := range c.N {
		if !yield(c.key(c.Recipe, c.Start+i)) {
			return
		}
	}
}

// key returns key i of a recipe.
func (c goldenCase) key(recipe string, i uint64) []byte {
	x := splitmix(c.Seed + i)
	switch recipe {
	case "splitmix_le64":
		return le64(nil, x)
	case "user_dec16":
		return fmt.Appendf(nil, "user%016d", c.Seed+i)
	case "dec":
		return fmt.Appendf(nil, "%d", c.Seed+i)
	case "dup_mod":
		return le64(nil, splitmix(c.Seed+i%c.Mod))
	case "pairs_le64":
		return le64(nil, splitmix(c.Seed+i/2))
	case "varlen":
		return appendRandom(le64(nil, i), x, x%33)
	case "length":
		return appendRandom(nil, x, i)
	case "sanity": // the start of the buffer that xxHash tests itself with
		key := make([]byte, i)
		for x, j := uint64(2654435761), 0; j < len(key); j++ {
			key[j] = byte(x >> 56)
			x *= 11400714785074694797
		}
		return key
	}
	panic("unknown recipe " + recipe)
}

// appendRandom appends n bytes that follow from x.
func appendRandom(dst []byte, x, n uint64) []byte {
	end := uint64(len(dst)) + n
	for j := uint64(1); uint64(len(dst)) < end; j++ {
		dst = le64(dst, splitmix(x+j))
	}
	return dst[:end]
}

var le64 = binary.LittleEndian.AppendUint64

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
