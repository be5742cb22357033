package policy

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// What it takes to build a filter of many keys, with the filter: hashes, which ribbon sorts into
// other memory, and 10 bits per key. After that the pools keep little, and the builder nothing.
func TestMemory(t *testing.T) {
	testkit.Large(t)
	for kind, bytesPerKey := range map[string]float64{"bloom": 5.25, "tuned": 5.25, "ribbon": 17.25} {
		var before, built, after runtime.MemStats
		const n = 3_000_000
		key := make([]byte, 8)
		runtime.GC()
		runtime.GC() // a sync.Pool keeps for one collection what it had before
		runtime.ReadMemStats(&before)
		builder := testkit.Must(of(kind, 10)).NewBuilder()
		for i := range uint64(n) {
			binary.LittleEndian.PutUint64(key, i)
			builder.Add(key)
		}
		builder.Finish(nil)
		runtime.ReadMemStats(&built)
		runtime.GC()
		runtime.ReadMemStats(&after)
		taken := float64(built.TotalAlloc-before.TotalAlloc) / n
		require.InDelta(t, bytesPerKey, taken, 1, "%s: bytes per key", kind)
		require.Less(t, int64(after.HeapAlloc-before.HeapAlloc), int64(640<<10), kind)
		runtime.KeepAlive(builder)
	}
}
