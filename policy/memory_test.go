package policy

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// heapInUse returns the bytes in use after a collection. What a sync.Pool had at the collection
// before the last one is gone.
func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// After a filter of many keys the pools keep little, and the builder nothing.
func TestMemoryKept(t *testing.T) {
	testkit.Large(t)
	const n = 3_000_000 // 12 MB of hashes of 32 bits, 24 MB of 64
	for _, p := range readers {
		heapInUse()
		before := heapInUse()
		builder := p.NewBuilder()
		var key [8]byte
		for i := range n {
			key[0], key[1], key[2] = byte(i), byte(i>>8), byte(i>>16)
			builder.Add(key[:])
		}
		builder.Finish(nil)
		kept := heapInUse() - before
		require.Less(t, kept, int64(640<<10), "bytes in the pool and in the builder")
		runtime.KeepAlive(builder)
	}
}
