package ribbon

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/builder"
)

// What a builder leaves in the pool has nothing of its keys, nor grows.
func TestMemoryStartsOver(t *testing.T) {
	b := NewBuilder(&builder.Setting{BitsPerKey: 10}, false)
	b.Add([]byte{1})
	b.Finish(nil)
	m := memories.Get().(*memory) // a new one if a collection has emptied the pool
	require.Empty(t, m.parts)
	for _, hashes := range m.parts[:cap(m.parts)] {
		require.Nil(t, hashes)
	}
}
