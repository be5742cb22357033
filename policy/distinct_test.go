package policy

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// sameHash returns two different keys that LevelDB's hash maps to one value, found by trying.
func sameHash() [][]byte {
	seen := map[uint32][]byte{}
	for i := 0; ; i++ {
		key := []byte{byte(i), byte(i >> 8), byte(i >> 16), 0, byte(i), 1}
		if other, ok := seen[referenceHash(key)]; ok {
			return [][]byte{other, key}
		}
		seen[referenceHash(key)] = key
	}
}

// A distinct builder builds the filter of its keys without those that equal the one before, and Len
// does not count them, whenever it is called and however many there are. It can be used again.
func TestDistinctBuilder(t *testing.T) {
	for _, kind := range allKinds {
		t.Run(kind, func(t *testing.T) {
			p := testkit.Must(of(kind, 10))
			rng := testkit.Rand(t, 70)
			b, buffer := p.NewDistinctBuilder(), make([]byte, 80)
			for range 60 {
				var distinct [][]byte
				versions := []int{1, 2, 20, 3 * builder.ChunkHashes}[rng.Intn(4)]
				for range rng.Intn(6*builder.ChunkHashes/versions + 5) {
					key := buffer[:rng.Intn(9)]
					if rng.Intn(10) == 0 {
						key = buffer // a long one
					}
					rng.Read(key)
					distinct = append(distinct, bytes.Clone(key))
					for range 1 + rng.Intn(versions) {
						b.Add(key)
					}
					if rng.Intn(500) == 0 {
						distinct = slices.CompactFunc(distinct, bytes.Equal)
						require.Equal(t, len(distinct), b.Len())
					}
				}
				plain := p.NewBuilder()
				distinct = slices.CompactFunc(distinct, bytes.Equal)
				for _, key := range distinct {
					plain.Add(key)
				}
				require.True(t, bytes.Equal(plain.Finish([]byte{1}), b.Finish([]byte{1})),
					"%d keys of up to %d versions", len(distinct), versions)
				require.Zero(t, b.Len())
			}
		})
	}
}

// Of two keys whose hashes are equal, only one counts, and none is lost.
func TestDistinctBuilderOfEqualHashes(t *testing.T) {
	p := testkit.Must(NewBloom(1000))
	b, keys := p.NewDistinctBuilder(), sameHash()
	b.Add(keys[0])
	b.Add(keys[1])
	require.Equal(t, 1, b.Len())
	filter := b.Finish(nil)
	require.Equal(t, p.AppendFilter(nil, keys[:1]), filter)
	require.True(t, MayContain(filter, keys[1]))
}

// The first key counts, whatever its hash.
func TestDistinctBuilderOfHashZero(t *testing.T) {
	// Hash adds a word to its state. Minus the state makes it 0, and then it stays 0.
	key := binary.LittleEndian.AppendUint32(nil, -bloom.HashStart([]byte("four")))
	require.Zero(t, referenceHash(key))
	p := testkit.Must(NewBloom(1000)) // a second key would make the filter larger
	b := p.NewDistinctBuilder()
	for range 2 {
		b.Add(key)
		b.Add(key)
		require.Equal(t, 1, b.Len())
		require.Equal(t, p.AppendFilter(nil, [][]byte{key}), b.Finish(nil))
	}
}
