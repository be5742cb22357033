package goleveldb_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
)

// generate adds keys to g and returns the filter that it generates.
func generate(g filter.FilterGenerator, keys [][]byte) []byte {
	for _, key := range keys {
		scratch := bytes.Clone(key)
		g.Add(scratch)
		clear(scratch) // a generator must not keep the caller's memory
	}
	var b util.Buffer
	g.Generate(&b)
	return b.Bytes()
}

// Filters have the bytes that goleveldb's own filter generates, also if keys repeat, and each reads
// the other's.
func TestSameBytesAsGoLevelDB(t *testing.T) {
	rng := enginetest.Rand(t, 1)
	random := enginetest.Keys(rng, 5000) // more than one chunk of a builder
	highBits := make([][]byte, 1000)
	for i := range highBits {
		highBits[i] = make([]byte, rng.Intn(8))
		for j := range highBits[i] {
			highBits[i][j] = 0x80 | byte(rng.Intn(128))
		}
	}
	duplicates := append(append([][]byte{}, random[:300]...), random[100:200]...)
	cases := map[string][][]byte{
		"no key":          nil,
		"one key":         random[:1],
		"six keys":        random[:6],
		"a window":        random[:40],
		"a thousand":      random[:1000],
		"many":            random,
		"empty key":       {{}},
		"high bits":       highBits,
		"far duplicates":  duplicates,
		"a key and again": {random[0], random[0], random[1], random[1], random[1]},
		"one key, often":  bytes.Split(bytes.Repeat([]byte("key,"), 100), []byte(",")),
	}
	// goleveldb clips k to 30 from 44 bits per key on. From 372 on it narrows k to 8 bits before.
	settings := []int{44, 45, 50, 64, 100, 371}
	for bits := 1; bits <= 43; bits++ {
		settings = append(settings, bits)
	}
	for name, keys := range cases {
		for _, bits := range settings {
			f := goleveldb.New(bloom(t, float64(bits)))
			theirs := filter.NewBloomFilter(bits)
			want := generate(theirs.NewGenerator(), keys)
			got := generate(f.NewGenerator(), keys)
			require.Equal(t, want, got, "%s, %d bits per key", name, bits)
			for _, key := range keys {
				require.True(t, f.Contains(want, key), "%s, %d bits per key", name, bits)
			}
			for _, key := range random[:50] {
				require.Equal(t, theirs.Contains(got, key), f.Contains(want, key),
					"%s, %d bits per key", name, bits)
			}
		}
	}
}

// A table's generator appends one filter after the other, of few keys or of many, to a buffer that
// was used before.
func TestGeneratorStartsOver(t *testing.T) {
	keys := enginetest.Keys(enginetest.Rand(t, 2), 3000)
	for _, kind := range enginetest.Kinds {
		p := kind.MustNew(10, policy.Name)
		var reused util.Buffer
		_, err := reused.Write(bytes.Repeat([]byte{0xff}, 20_000))
		require.NoError(t, err)
		reused.Reset()
		g := goleveldb.New(p).NewGenerator()
		var want []byte
		for _, window := range [][][]byte{
			keys[:40], keys[40:42], nil, keys[42:], keys[:1], keys[:1500], keys[1500:], keys[:40],
		} {
			b := p.NewBuilder()
			for _, key := range window {
				g.Add(key)
				b.Add(key)
			}
			g.Generate(&reused)
			want = b.Finish(want)
			require.Equal(t, want, reused.Bytes(), kind.Name)
		}
	}
}

// emptying is a policy that builds empty filters.
type emptying struct{ policy.Policy }

type emptyingBuilder struct{ policy.Builder }

func (p emptying) NewBuilder() policy.Builder { return emptyingBuilder{p.Policy.NewBuilder()} }

func (emptyingBuilder) Finish(dst []byte) []byte { return dst }

// An empty filter would lose keys, because goleveldb does not call Contains.
func TestEmptyFilterPanics(t *testing.T) {
	g := goleveldb.New(emptying{bloom(t, 10)}).NewGenerator()
	require.PanicsWithValue(t, `goleveldb: the policy "leveldb.BuiltinBloomFilter2" built an empty `+
		`filter: keys would be lost`, func() { g.Generate(&util.Buffer{}) })
}
