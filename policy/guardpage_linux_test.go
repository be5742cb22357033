package policy

import (
	"bytes"
	"encoding/binary"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
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
	rng := policytest.Rand(t, 40)
	for _, atEnd := range []bool{false, true} {
		for size := range 301 {
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

// The same for ribbon filters, sound ones and any others, of all shapes.
func TestRibbonBetweenUnreadablePages(t *testing.T) {
	rng := policytest.Rand(t, 42)
	keys := policytest.Keys(rng, 2200)
	for _, atEnd := range []bool{false, true} {
		for size := 3; size < 300; size++ {
			filter := between(t, size, atEnd)
			for range 4 {
				fillRibbon(rng, filter)
				requireRibbonAnswers(t, filter, keys[:fewKeys])
			}
		}
		for _, bitsPerKey := range []float64{2, 3.7, 10, 40} {
			r := policytest.Must(NewRibbon(bitsPerKey))
			for n := 0; n <= len(keys); n += 1 + n/4 {
				if n > 300 {
					n = len(keys) // with an upper layer
				}
				want := referenceRibbon(bitsPerKey, keys[:n])
				dst := between(t, len(want), atEnd)
				require.True(t, bytes.Equal(want, r.AppendFilter(dst[:0], keys[:n])))
				requireSameAnswers(t, "sound", dst, keys[len(keys)-300:])
			}
		}
	}
}

// The same for blocked Bloom filters, of one line and of many.
func TestBlockedBetweenUnreadablePages(t *testing.T) {
	rng := policytest.Rand(t, 41)
	for _, atEnd := range []bool{false, true} {
		for _, size := range []int{1, 2, 3, 7, 8, 9, 25, 63, 64, 65, 129, 1000, 1279, 1280, 1281,
			1344, 4096, 8192} {
			filter := between(t, size+blockedTrailer, atEnd)
			keys := make([][]byte, 301)
			for length := range keys {
				keys[length] = between(t, length, atEnd)
				rng.Read(keys[length])
			}
			for k := range 20 {
				clear(filter)
				copy(filter, referenceTrailer(filter[:size:size], byte(k)))
				fillHalf(rng, filter[:size], k)
				requireAnswers(t, filter, keys)
			}
			// filters that are nothing but an end of the trailer
			for trailer := range blockedTrailer {
				requireAnswers(t, filter[size+trailer:], keys[:1])
			}
		}
		for n := range 151 {
			keys := make([][]byte, n)
			for i := range keys {
				keys[i] = binary.LittleEndian.AppendUint32(nil, rng.Uint32())
			}
			// 137 keys are the first that take more than 1280 bytes
			want := referenceBlocked(75, keys)
			dst := between(t, len(want), atEnd)
			got := policytest.Must(NewBlockedBloom(75)).AppendFilter(dst[:0], keys)
			require.True(t, bytes.Equal(want, got))
			builder := policytest.Must(NewBlockedBloom(75)).NewBuilder()
			for _, key := range keys {
				builder.Add(key)
			}
			require.True(t, bytes.Equal(want, builder.Finish(dst[:0])))
		}
	}
}
