package sstable_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
	"github.com/levelbloom/levelbloom/sstable"
)

var large = flag.Bool("large", false, "also write and read a table of 2 GiB, in the directory for temporary files")

// A large table takes the memory of its index and of one data block, however much data it has.
func TestLargeTable(t *testing.T) {
	sizes := []uint64{64 << 20}
	if *large {
		sizes = append(sizes, 2<<30)
	}
	for _, size := range sizes {
		t.Run(fmt.Sprintf("%d MiB", size>>20), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "large.ldb")
			p := policytest.Must(policy.NewBloom(10))
			entries := writeLarge(t, path, size, p)
			file, err := os.Open(path)
			require.NoError(t, err)
			defer file.Close()
			info, err := file.Stat()
			require.NoError(t, err)
			require.Greater(t, uint64(info.Size()), size)

			defer debug.SetGCPercent(debug.SetGCPercent(10)) // or garbage would count
			heap := watchHeap(t)
			table, err := sstable.OpenTable(file, info.Size(), sstable.WithFileName(path))
			require.NoError(t, err)
			opening, open := heap()

			var key []byte
			n := 0
			for e, err := range table.Entries() {
				if key = appendLargeKey(key[:0], n); err != nil || !bytes.Equal(e.Key, key) {
					t.Fatalf("entry %d has the key %x: %v", n, e.Key, err)
				}
				n++
			}
			require.Equal(t, entries, n)
			reading, _ := heap()

			filter, err := table.Filter(p)
			require.NoError(t, err)
			passed, asked := 0, 0
			for i := 0; i < n; i += 97 {
				if key = appendLargeKey(key[:0], i); !filter.MayContain(key) {
					t.Fatalf("the filter denies key %d", i)
				}
				asked++
				if filter.MayContain(append(key, 0)) {
					passed++
				}
			}
			require.Less(t, passed, asked/20)
			asking, _ := heap()

			// For each data block the index keeps its handle, its key and where that ends.
			const kept = 16 + 24 + 8
			blocks, filterBytes := uint64(table.Blocks()), table.Filters()[0].Handle.Length
			t.Logf("%d entries in %d data blocks, filters of %d bytes; heap: %d bytes at most to open, %d then (%.1f for each data block), %d at most to read, %d at most to ask",
				n, blocks, filterBytes, opening, open, float64(open)/float64(blocks), reading, asking)
			const small = 4 << 20
			require.Less(t, open, blocks*kept*5/4+small/32)
			require.Less(t, opening, blocks*kept*4+small, "the block itself, and slices that grow")
			require.Less(t, reading, open*5/4+small)
			require.Less(t, asking, (open+2*filterBytes)*5/4+small, "read, and copied")
			runtime.KeepAlive(table)
			runtime.KeepAlive(filter)
		})
	}
}

// writeLarge writes a table of at least this size, and returns the number of its entries.
func writeLarge(t testing.TB, path string, size uint64, p policy.Policy) (entries int) {
	file, err := os.Create(path)
	require.NoError(t, err)
	buffered := bufio.NewWriterSize(file, 1<<20)
	w := newTableWriter(t, buffered, tableOptions{blockSize: 4096, interval: 16, policy: p, internal: true})
	values := make([]byte, 1<<16)
	policytest.Rand(t, 4).Read(values)
	for ; w.offset < size; entries++ {
		key := internalKey(string(appendLargeKey(nil, entries)), uint64(entries+1), 1)
		w.add(key, values[entries%1000*13:][:1000])
	}
	w.finish()
	require.NoError(t, buffered.Flush())
	require.NoError(t, file.Close())
	return entries
}

// appendLargeKey appends user key i: 16 bytes, which rise.
func appendLargeKey(dst []byte, i int) []byte {
	return binary.BigEndian.AppendUint64(append(dst, "a prefix"...), uint64(i))
}

// watchHeap samples the heap until the test ends. The function that it returns tells how much more
// than at the start there was at most, since it was called last, and how much more there is now.
func watchHeap(t testing.TB) func() (peak, now uint64) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	live := func() uint64 {
		runtime.GC()
		return heap()
	}
	before := live()
	tell, peaks := make(chan bool), make(chan uint64)
	go func() {
		peak, goOn := before, true
		for goOn {
			select {
			case goOn = <-tell:
				peaks <- max(peak, heap())
				peak = before
			case <-time.After(time.Millisecond):
				peak = max(peak, heap())
			}
		}
	}()
	t.Cleanup(func() {
		tell <- false
		<-peaks
	})
	return func() (peak, now uint64) {
		ask := func() uint64 {
			tell <- true
			return <-peaks
		}
		peak, now = ask(), live()
		ask() // what was garbage is no peak of what comes
		return peak - before, max(now, before) - before
	}
}
