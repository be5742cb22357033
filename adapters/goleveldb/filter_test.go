package goleveldb_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// generate adds keys to g and returns the filter it makes.
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

// The filters are those of goleveldb's own filter, for any keys, also if keys repeat; and each reads the other's.
func TestSameBytesAsGoLevelDB(t *testing.T) {
	rng := seeded(t, 1)
	random := randomKeys(rng, 5000) // more than one chunk of a builder
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
				require.Equal(t, theirs.Contains(got, key), f.Contains(want, key), "%s, %d bits per key", name, bits)
			}
		}
	}
}

// A table's generator makes one filter after the other, of few keys or of many.
func TestGeneratorStartsOver(t *testing.T) {
	keys := randomKeys(seeded(t, 2), 3000)
	for _, p := range eachEncoding(t) {
		g := goleveldb.New(p).NewGenerator()
		for _, window := range [][][]byte{keys[:40], keys[40:42], nil, keys[42:], keys[:1500], keys[1500:], keys[:40]} {
			require.Equal(t, p.AppendFilter(nil, window), generate(g, window), "%T", p)
		}
	}
}

// asks is a policy that counts how often its builders are asked for a size, and for a filter.
type asks struct {
	policy.Policy
	sizes, filters int
}

func (a *asks) NewBuilder() policy.Builder { return askedBuilder{a.Policy.NewBuilder(), a} }

type askedBuilder struct {
	policy.Builder
	asks *asks
}

func (b askedBuilder) Size() int {
	b.asks.sizes++
	return b.Builder.Size()
}

func (b askedBuilder) Finish(dst []byte) []byte {
	b.asks.filters++
	return b.Builder.Finish(dst)
}

// A builder may have to make the filter to tell its size: it is asked once.
func TestGeneratorAsksOnce(t *testing.T) {
	a := &asks{Policy: fuse(t, 11.6)}
	g := goleveldb.New(a).NewGenerator()
	rng := seeded(t, 4)
	for i := range 3 {
		filter := generate(g, randomKeys(rng, 2000))
		require.EqualValues(t, fuseEncoding, filter[len(filter)-1])
		require.Equal(t, []int{i + 1, i + 1}, []int{a.sizes, a.filters})
	}
}

// dirtyBuffer hands out memory full of ones, and with spare capacity that is not the generator's.
type dirtyBuffer struct {
	util.Buffer
	handed []byte
}

func (b *dirtyBuffer) Alloc(n int) []byte {
	b.handed = bytes.Repeat([]byte{0xff}, n+64)
	return b.handed[:n]
}

func TestDirtyBuffer(t *testing.T) {
	keys := randomKeys(seeded(t, 3), 5000)
	for _, p := range eachEncoding(t) {
		for _, n := range []int{0, 1, 6, 7, 40, 5000} {
			want := p.AppendFilter(nil, keys[:n])

			var dirty dirtyBuffer
			g := goleveldb.New(p).NewGenerator()
			for _, key := range keys[:n] {
				g.Add(key)
			}
			g.Generate(&dirty)
			require.Equal(t, want, dirty.handed[:len(want)], "%T, %d keys", p, n)
			require.Equal(t, bytes.Repeat([]byte{0xff}, 64), dirty.handed[len(want):], "memory beyond the filter")

			// goleveldb's own buffer, used before: the filters of a table are appended one after the other.
			var reused util.Buffer
			_, err := reused.Write(bytes.Repeat([]byte{0xff}, 20_000))
			require.NoError(t, err)
			reused.Reset()
			require.Equal(t, bytes.Repeat([]byte{0xff}, len(want)), reused.Alloc(len(want)), "the memory should be dirty")
			reused.Reset()
			for range 2 {
				for _, key := range keys[:n] {
					g.Add(key)
				}
				g.Generate(&reused)
			}
			require.Equal(t, append(bytes.Clone(want), want...), reused.Bytes(), "%T, %d keys", p, n)
		}
	}
}

// fakePolicy makes filters that its test chooses.
type fakePolicy struct {
	name   string
	size   int
	finish func(dst []byte) []byte
}

func (p *fakePolicy) Name() string                { return p.name }
func (p *fakePolicy) NewBuilder() policy.Builder  { return p }
func (p *fakePolicy) MayContain(_, _ []byte) bool { return true }
func (p *fakePolicy) Add([]byte)                  {}
func (p *fakePolicy) Len() int                    { return 1 }
func (p *fakePolicy) Size() int                   { return p.size }
func (p *fakePolicy) Finish(dst []byte) []byte    { return p.finish(dst) }

// Finish may return memory of its own, and may use the spare capacity that it is given: this must not be the buffer's.
func TestBuilderWithItsOwnMemory(t *testing.T) {
	own := []byte("filter")
	for _, finish := range []func(dst []byte) []byte{
		func([]byte) []byte { return bytes.Clone(own) },
		func(dst []byte) []byte { clear(dst[:cap(dst)]); return append(dst, own...) },
		func(dst []byte) []byte { return append(dst, "filter and scratch"...)[:len(own)] },
	} {
		var b dirtyBuffer
		goleveldb.New(&fakePolicy{size: len(own), finish: finish}).NewGenerator().Generate(&b)
		require.Equal(t, own, b.handed[:len(own)])
		require.Equal(t, bytes.Repeat([]byte{0xff}, 64), b.handed[len(own):])
	}
}

// A filter that is not what was announced would lose keys silently, and so would an empty one.
func TestBuilderThatBreaksItsContract(t *testing.T) {
	for _, c := range []struct{ announced, made int }{{9, 8}, {9, 10}, {9, 0}, {0, 9}, {0, 0}} {
		p := &fakePolicy{name: "broken", size: c.announced, finish: func(dst []byte) []byte {
			return append(dst, make([]byte, c.made)...)
		}}
		g := goleveldb.New(p).NewGenerator()
		require.PanicsWithValue(t, fmt.Sprintf(`goleveldb: the policy "broken" made a filter of %d bytes and had announced %d: `+
			`they must be equal and above 0, or keys would be lost`, c.made, c.announced), func() { g.Generate(&util.Buffer{}) })
	}
}

// The name on disk must not change between the writing and the reading of a table.
func TestNameIsCapturedOnce(t *testing.T) {
	p := &fakePolicy{name: "first"}
	f := goleveldb.New(p)
	p.name = "second"
	require.Equal(t, "first", f.Name())
}

func TestNewRefusesNil(t *testing.T) {
	const message = "goleveldb: New of a nil policy: pass one, such as policy.NewBloom(10) returns without an error"
	require.PanicsWithValue(t, message, func() { goleveldb.New(nil) })
	b, err := policy.NewBloom(-1)
	require.Error(t, err)
	require.PanicsWithValue(t, message, func() { goleveldb.New(b) })
}
