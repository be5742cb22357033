package policy

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
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

// Filters at the edge of what may be read: one byte beyond kills the test. Only the reader of
// LevelDB's filters uses unsafe.
func TestBetweenUnreadablePages(t *testing.T) {
	rng, step := testkit.Rand(t, 40), 1
	if testing.Short() {
		step = 37
	}
	keys := testkit.Keys(rng, 32)
	for _, atEnd := range []bool{false, true} {
		for size := 0; size < 301; size += step {
			filter := between(t, size, atEnd)
			for last := range 32 {
				for i := range filter {
					filter[i] = 0xff
				}
				if size > 0 {
					filter[rng.Intn(size)] = byte(rng.Int())
					filter[size-1] = byte(last)
				}
				for _, key := range keys {
					ask(t, filter, key)
				}
			}
		}
	}
}
