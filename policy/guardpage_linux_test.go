package policy

import (
	"bytes"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/policytest"
)

// between returns n bytes between two unreadable pages, right before the second or right after the
// first.
func between(t *testing.T, n int, atEnd bool) []byte {
	page := syscall.Getpagesize()
	size := (n + page - 1) / page * page
	memory, err := syscall.Mmap(-1, 0, page+size+page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(memory)) })
	require.NoError(t, syscall.Mprotect(memory[:page], syscall.PROT_NONE))
	require.NoError(t, syscall.Mprotect(memory[page+size:], syscall.PROT_NONE))
	if atEnd {
		return memory[page+size-n : page+size : page+size]
	}
	return memory[page : page+n : page+n]
}

// Filters, keys and room for filters at the edge of what may be touched: one byte beyond kills the
// test.
func TestBetweenUnreadablePages(t *testing.T) {
	rng, step := policytest.Rand(t, 40), 1
	if testing.Short() {
		step = 37
	}
	for _, atEnd := range []bool{false, true} {
		for size := 0; size < 301; size += step {
			filter := between(t, size, atEnd)
			keys := make([][]byte, 8)
			for i := range keys {
				keys[i] = between(t, size%201, atEnd)
				rng.Read(keys[i])
			}
			keys = append(keys, keys...)
			keys = append(keys, keys...) // enough for the assembly
			if size%2 == 1 {             // of more than one length
				for i, key := range keys {
					if atEnd {
						keys[i] = key[min(i, len(key)):]
					} else {
						keys[i] = key[:max(0, len(key)-i)]
					}
				}
			}
			for last := range 32 {
				for i := range filter {
					filter[i] = 0xff
				}
				if size > 0 {
					filter[rng.Intn(size)] = byte(rng.Int())
					filter[size-1] = byte(last)
				}
				requireAnswers(t, filter, keys)
			}
			for n := 0; n <= len(keys); n += 1 + n/8 {
				want := referenceFilter(10, keys[:n])
				dst := between(t, len(want), atEnd)
				require.True(t, bytes.Equal(want,
					policytest.Must(NewBloom(10)).AppendFilter(dst[:0], keys[:n])))
				builder := policytest.Must(NewBloom(10)).NewBuilder()
				for _, key := range keys[:n] {
					builder.Add(key)
				}
				require.True(t, bytes.Equal(want, builder.Finish(dst[:0])))
			}
		}
	}
}

// The same for ribbon filters. Package ribbon has a test for any other bytes.
func TestRibbonBetweenUnreadablePages(t *testing.T) {
	rng := policytest.Rand(t, 42)
	keys := policytest.Keys(rng, 2200)
	for _, atEnd := range []bool{false, true} {
		for _, bitsPerKey := range []float64{2, 3.7, 10, 40} {
			r := policytest.Must(NewRibbon(bitsPerKey))
			for n := 0; n <= len(keys); n += 1 + n/4 {
				if n > 300 {
					n = len(keys) // many shards
				}
				want := referenceRibbon(bitsPerKey, keys[:n])
				dst := between(t, len(want), atEnd)
				require.True(t, bytes.Equal(want, r.AppendFilter(dst[:0], keys[:n])))
				requireSameAnswers(t, "sound", dst, keys[len(keys)-300:])
			}
		}
	}
}
