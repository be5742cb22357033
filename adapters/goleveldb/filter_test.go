package goleveldb_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
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
// the other's. One generator builds filters of few keys and of many.
func TestSameBytesAsGoLevelDB(t *testing.T) {
	random := testkit.Keys(testkit.Rand(t, 1), 5000) // more than one chunk of a builder
	cases := [][][]byte{
		nil, random[:1], random[:6], random, random[:40], {{}}, {random[0], random[0], random[1]},
		bytes.Split(bytes.Repeat([]byte("key,"), 100), []byte(",")),
		append(slices.Clone(random[:300]), random[100:200]...),
	}
	// goleveldb clips k to 30 from 44 bits per key on. From 372 on it narrows k to 8 bits before.
	for _, bits := range []int{1, 2, 3, 5, 8, 10, 16, 30, 43, 44, 45, 100, 371} {
		f, theirs := goleveldb.New(bloom(t, float64(bits))), filter.NewBloomFilter(bits)
		g := f.NewGenerator()
		for i, keys := range cases {
			what := fmt.Sprintf("case %d, %d bits per key", i, bits)
			want := generate(theirs.NewGenerator(), keys)
			require.Equal(t, want, generate(g, keys), what)
			for _, key := range keys {
				require.True(t, f.Contains(want, key), what)
			}
			for _, key := range random[:50] {
				require.Equal(t, theirs.Contains(want, key), f.Contains(want, key), what)
			}
		}
	}
}

// A policy counts what the engine builds and checks, and nothing that the adapter does.
func TestNewCountsNothing(t *testing.T) {
	p := bloom(t, 10, policy.WithCounters())
	configured(t, nil, p)
	require.Zero(t, p.Counters())
}

func TestNewRefusesNil(t *testing.T) {
	require.PanicsWithError(t, "goleveldb: "+(*policy.Policy)(nil).Check().Error(),
		func() { goleveldb.New(nil) })
}
