package policy

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// A distinct builder builds the filter of its keys without those that equal the one before, and Len
// does not count them, whenever it is called and however many there are. It can be used again.
func TestDistinctBuilder(t *testing.T) {
	for _, kind := range allKinds {
		p := testkit.Must(of(kind, 10))
		rng := testkit.Rand(t, 70)
		distinct, plain := p.NewDistinctBuilder(), p.NewBuilder()
		for range 60 {
			var before []byte
			versions := []int{1, 2, 20, 3 * builder.ChunkHashes}[rng.Intn(4)]
			for i := range rng.Intn(6*builder.ChunkHashes/versions + 5) {
				key := make([]byte, rng.Intn(3)) // often equal to the one before
				rng.Read(key)
				if i == 0 || !bytes.Equal(key, before) {
					plain.Add(key)
				}
				before = key
				for range 1 + rng.Intn(versions) {
					distinct.Add(key)
				}
				if plain.Len() != distinct.Len() {
					require.Equal(t, plain.Len(), distinct.Len(), kind)
				}
			}
			require.True(t, bytes.Equal(plain.Finish(nil), distinct.Finish(nil)), kind)
			require.Zero(t, distinct.Len())
		}
	}
}

// The first key counts, whatever its hash.
func TestDistinctBuilderOfHashZero(t *testing.T) {
	// Hash adds a word to its state. Minus the state makes it 0, and then it stays 0.
	key := binary.LittleEndian.AppendUint32(nil, -bloom.HashStart([]byte("four")))
	require.Zero(t, referenceHash(key))
	b := testkit.Must(NewBloom(10)).NewDistinctBuilder()
	for range 2 {
		b.Add(key)
		b.Add(key)
		require.Equal(t, 1, b.Len())
		require.True(t, MayContain(b.Finish(nil), key))
	}
}
