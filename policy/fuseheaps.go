package policy

import (
	"math/bits"
	"slices"
)

// heaps are mixed hashes, dealt out by their highest bits. So equal ones meet, and a filter's cells are written from the first
// to the last, those near each other at the same time.
type heaps struct {
	mixed []uint64
	ends  []int                      // of a heap in mixed; before they are dealt out, where it begins
	seen  [1 << seenBits / 64]uint64 // which tags some hash of a heap has
}

const (
	heapSize = 1 << 10 // at most, on average
	maxHeaps = 1 << 16
	seenBits = 18 // of a tag: 32 KiB, which the nearest cache holds
)

// deal mixes the hashes of keys with a seed, and returns the distinct ones, in memory of h.
func (h *heaps) deal(keys *keyHashes, seed uint64) []uint64 {
	heapBits := bits.Len(uint(min(keys.n/heapSize, maxHeaps-1)))
	heap := func(x uint64) uint64 { return x >> 1 >> ((63 - heapBits) & 63) } // in two steps, as heapBits may be 0
	clear(resize(&h.ends, 1<<heapBits+1))
	for hashes := range keys.all {
		for _, hash := range hashes {
			h.ends[heap(fuseMix(hash, seed))+1]++
		}
	}
	for i := range 1 << heapBits {
		h.ends[i+1] += h.ends[i]
	}
	resize(&h.mixed, uint64(keys.n))
	for hashes := range keys.all {
		for _, hash := range hashes {
			x := fuseMix(hash, seed)
			end := &h.ends[heap(x)]
			h.mixed[*end] = x
			*end++
		}
	}
	distinct, begin := h.mixed[:0], 0
	for _, end := range h.ends[:1<<heapBits] {
		distinct = append(distinct, h.unique(h.mixed[begin:end], heapBits)...)
		begin = end
	}
	return distinct
}

// unique removes what is more than once in a heap, in its memory. The first heapBits bits of all are the same.
//
// Nearly always nothing is, and this must be found out fast: each has a tag, of the bits after these, and only those whose tag
// was seen before are looked for among all.
func (h *heaps) unique(heap []uint64, heapBits int) []uint64 {
	tagBits := min(bits.Len(uint(len(heap)))+8, seenBits)
	seen := h.seen[:1<<tagBits/64]
	clear(seen)
	var suspects [16]uint64
	n := 0
	for _, x := range heap {
		tag := x << (heapBits & 63) >> ((64 - tagBits) & 63)
		word := &seen[tag/64]
		suspects[n%len(suspects)] = x
		n += int(*word >> (tag % 64) & 1) // without a branch, which nobody could predict
		*word |= 1 << (tag % 64)
	}
	if n < len(suspects) && !slices.ContainsFunc(suspects[:n], func(x uint64) bool {
		first := slices.Index(heap, x)
		return slices.Contains(heap[first+1:], x)
	}) {
		return heap
	}
	slices.Sort(heap)
	return slices.Compact(heap)
}
