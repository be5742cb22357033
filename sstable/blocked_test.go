package sstable_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

func blocked(t testing.TB, bitsPerKey float64) *policy.BlockedBloom {
	p, err := policy.NewBlockedBloom(bitsPerKey)
	require.NoError(t, err)
	return p
}

// alternating is a policy whose filters are of one encoding and of the other by turns. It reads both, as both do.
type alternating struct {
	*policy.Bloom
	blocked *policy.BlockedBloom
}

func (p alternating) NewBuilder() policy.Builder {
	return &alternatingBuilder{now: p.Bloom.NewBuilder(), next: p.blocked.NewBuilder()}
}

type alternatingBuilder struct{ now, next policy.Builder }

func (b *alternatingBuilder) Add(key []byte) { b.now.Add(key) }
func (b *alternatingBuilder) Len() int       { return b.now.Len() }
func (b *alternatingBuilder) Size() int      { return b.now.Size() }

func (b *alternatingBuilder) Finish(dst []byte) []byte {
	defer func() { b.now, b.next = b.next, b.now }()
	return b.now.Finish(dst)
}

// mixedBlocks are data blocks for windows of one key and of many, of no key, and without a block.
func mixedBlocks() (blocks []dataBlock, end uint64) {
	blocks = []dataBlock{{0, names(30)}, {2048, []string{"alone"}}, {5000, nil}, {9000, []string{""}}, {10_000, []string{"a", "b"}}, {20_000, names(2000)}}
	return blocks, 30_000
}

// Windows with blocked filters, and with filters of both encodings, are what the policies make of their keys, and all policies
// find these.
func TestBlockedWindows(t *testing.T) {
	ours, exact := blocked(t, 10), bloom(t, 10)
	both := alternating{exact, ours}
	blocks, end := mixedBlocks()
	for name, p := range map[string]policy.Policy{"blocked": ours, "both": both} {
		b, err := sstable.NewFilterBlockBuilder(p)
		require.NoError(t, err)
		for range 2 { // the builder is used again
			block := build(b, blocks, end)
			for _, reader := range []policy.Policy{ours, exact, both} {
				r := sstable.NewFilterBlockReader(reader, block)
				require.NoError(t, r.Validate())
				require.Equal(t, 14, r.NumFilters())
				keys := make([][][]byte, r.NumFilters())
				for _, b := range blocks {
					for _, key := range b.keys {
						require.True(t, r.MayContain(b.offset, []byte(key)), "%s: key %q at %d", name, key, b.offset)
						keys[b.offset>>11] = append(keys[b.offset>>11], []byte(key))
					}
				}
				kinds := map[byte]int{}
				for i := range r.NumFilters() {
					filter := r.Filter(i)
					if len(keys[i]) == 0 {
						require.Empty(t, filter)
						require.False(t, r.MayContain(uint64(i)<<11, []byte("a")), "an empty window has no key")
						continue
					}
					want := ours.AppendFilter(nil, keys[i])
					if filter[len(filter)-1] <= 30 {
						want = exact.AppendFilter(nil, keys[i])
					}
					require.Equal(t, want, filter)
					kinds[filter[len(filter)-1]]++
				}
				require.Equal(t, name == "both", len(kinds) == 2, "%s: %v", name, kinds)
				passed := 0
				for i := range 1000 {
					if r.MayContain(20_000, []byte(fmt.Sprintf("absent%d", i))) {
						passed++
					}
				}
				require.Less(t, passed, 30, "2,000 keys at 10 bits")
				require.True(t, r.MayContain(end, []byte("a")), "behind the last filter")
			}
		}
	}
}

// Every flip of a bit, every truncation of a filter: no panic, the block's other windows answer as before, and a filter whose
// last bytes are no longer known has all keys. (A flip in the bits may lose keys: the block's checksum is there for that.)
func TestBlockedWindowFlips(t *testing.T) {
	p := alternating{bloom(t, 10), blocked(t, 10)}
	blocks, end := mixedBlocks()
	blocks[0].keys, blocks[len(blocks)-1].keys = names(8), names(1100) // the last one has 22 lines, and the block 2,000 bytes
	b, err := sstable.NewFilterBlockBuilder(p)
	require.NoError(t, err)
	block := build(b, blocks, end)
	intact := sstable.NewFilterBlockReader(p, block)
	lastBlocked := -1
	lostKeys, always := 0, 0
	start := 0
	for i := range intact.NumFilters() {
		filter := intact.Filter(i)
		if len(filter) == 0 {
			continue
		}
		isBlocked := filter[len(filter)-1] > 30
		if isBlocked {
			lastBlocked = i
		}
		for at := start; at < start+len(filter); at++ {
			if isBlocked && len(filter) > 200 && at < start+len(filter)-10 && at%16 > 0 {
				continue // some of the many
			}
			for bit := range 8 {
				changed := bytes.Clone(block)
				changed[at] ^= 1 << bit
				r := sstable.NewFilterBlockReader(p, changed)
				require.NoError(t, r.Validate())
				for _, b := range blocks {
					for j, key := range b.keys[:min(len(b.keys), 20)] {
						may := r.MayContain(b.offset, []byte(key))
						if b.offset>>11 != uint64(i) {
							require.True(t, may, "byte %d, bit %d: key %q of another window", at, bit, key)
						} else if end := changed[start+len(filter)-2 : start+len(filter)]; isBlocked && end[1] > 30 && !bytes.Equal(end, []byte{1, 0x42}) {
							require.True(t, may, "byte %d, bit %d: unknown encoding or version", at, bit)
							if j == 0 {
								always++
							}
						} else if !may {
							lostKeys++
						}
					}
				}
			}
		}
		start += len(filter)
	}
	require.Equal(t, 20_000>>11, lastBlocked)
	require.Positive(t, lostKeys, "a bit that is cleared loses keys")
	require.Positive(t, always)
}

// Tables with blocked filters, and with both, of small and of large windows.
func TestBlockedTables(t *testing.T) {
	ours := blocked(t, 10)
	for _, p := range []policy.Policy{ours, alternating{bloom(t, 10), ours}} {
		for _, baseLg := range []int{7, 11, 30} {
			users := names(3000)
			file, _ := writeTable(t, tableOptions{blockSize: 500, interval: 16, policy: p, baseLg: baseLg, internal: true, indexKey: shortInternalIndexKey}, internalKeys(users...)...)
			table := openTable(t, file)
			require.Equal(t, []sstable.FilterEntry{{Policy: policy.Name, Handle: table.Filters()[0].Handle}}, table.Filters())
			for _, reader := range []policy.Policy{ours, bloom(t, 3), p} {
				filter, err := table.Filter(reader)
				require.NoError(t, err)
				for _, user := range users {
					require.True(t, filter.MayContain([]byte(user)), user)
				}
				passed := 0
				for _, user := range users {
					if filter.MayContain([]byte(user + strings.Repeat("x", 3))) {
						passed++
					}
				}
				require.Less(t, passed, len(users)/20)
			}
		}
	}
}
