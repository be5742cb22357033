package sstable_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
	"github.com/levelbloom/levelbloom/sstable"
)

// encodingOf returns the encoding of a sound filter.
func encodingOf(t testing.TB, filter []byte) policy.Encoding {
	info, err := policy.Parse(filter)
	require.NoError(t, err)
	return info.Encoding
}

// inTurn is a policy whose filters are made by several policies, one after the other. It reads
// those of all, as each does.
type inTurn []policy.Policy

func (p inTurn) Name() string                       { return p[0].Name() }
func (p inTurn) MayContain(filter, key []byte) bool { return p[0].MayContain(filter, key) }

func (p inTurn) NewBuilder() policy.Builder {
	var b turningBuilder
	for _, p := range p {
		b = append(b, p.NewBuilder())
	}
	return &b
}

// A turningBuilder adds to the first of its builders.
type turningBuilder []policy.Builder

func (b *turningBuilder) Add(key []byte) { (*b)[0].Add(key) }
func (b *turningBuilder) Len() int       { return (*b)[0].Len() }

func (b *turningBuilder) Finish(dst []byte) []byte {
	now := (*b)[0]
	*b = append((*b)[1:], now)
	return now.Finish(dst)
}

// policies are those of all encodings, each alone, and in turn.
func policies() map[string]inTurn {
	exact := policytest.Must(policy.NewBloom(10))
	ribbon := policytest.Must(policy.NewRibbon(40)) // with less, a filter of one key is exact
	return map[string]inTurn{"exact": {exact}, "ribbon": {ribbon}, "in turn": {exact, ribbon}}
}

func filterMadeBy(p policy.Policy, keys [][]byte) []byte {
	b := p.NewBuilder()
	for _, key := range keys {
		b.Add(key)
	}
	return b.Finish(nil)
}

// mixedBlocks are data blocks for windows of one key and of many, of no key, and without a block.
func mixedBlocks() (blocks []dataBlock, end uint64) {
	blocks = []dataBlock{
		{0, names(30)}, {2048, []string{"alone"}}, {5000, nil}, {9000, []string{""}},
		{10_000, []string{"a", "b"}},
		{20_000, names(2000)}, {25_000, names(1500)}, {30_000, names(1200)},
	}
	return blocks, 40_000
}

// Windows with filters of each encoding, and of all, are what the policies make of their keys, and
// all policies find these.
func TestWindowsOfEncodings(t *testing.T) {
	all := policies()
	blocks, end := mixedBlocks()
	for name, p := range all {
		b, err := sstable.NewFilterBlockBuilder(p)
		require.NoError(t, err)
		for range 2 { // the builder is used again
			block := build(b, blocks, end)
			for _, reader := range all {
				r := sstable.NewFilterBlockReader(reader, block)
				require.NoError(t, r.Validate())
				require.Equal(t, 19, r.NumFilters())
				keys := make([][][]byte, r.NumFilters())
				for _, b := range blocks {
					for _, key := range b.keys {
						require.True(t, r.MayContain(b.offset, []byte(key)), "%s: key %q at %d",
							name, key, b.offset)
						keys[b.offset>>11] = append(keys[b.offset>>11], []byte(key))
					}
				}
				made, found := 0, map[policy.Encoding]bool{}
				for i := range r.NumFilters() {
					filter := r.Filter(i)
					if len(keys[i]) == 0 {
						require.Empty(t, filter)
						require.False(t, r.MayContain(uint64(i)<<11, []byte("a")),
							"an empty window has no key")
						continue
					}
					require.Equal(t, filterMadeBy(p[made%len(p)], keys[i]), filter)
					made++
					found[encodingOf(t, filter)] = true
				}
				require.Equal(t, 6, made)
				all := name == "in turn"
				require.True(t, found[policy.EncodingBloom], "%s: windows of few keys have it", name)
				require.Equal(t, all || name == "ribbon", found[policy.EncodingRibbon], name)
				for _, offset := range []uint64{20_000, 25_000, 30_000} {
					passed := 0
					for i := range 1000 {
						if r.MayContain(offset, []byte(fmt.Sprintf("absent%d", i))) {
							passed++
						}
					}
					require.Less(t, passed, 30, "many keys at 10 bits or more")
				}
				require.True(t, r.MayContain(end, []byte("a")), "after the last filter")
			}
		}
	}
}

// Every flip of a bit in a filter: no panic, the block's other windows answer as before, and a
// filter that is malformed now may contain all keys. (A flip in the bits may lose keys: the block's
// checksum is there for that.)
func TestWindowFlips(t *testing.T) {
	p := policies()["in turn"]
	blocks, end := []dataBlock{
		{0, names(8)}, {2048, []string{"alone"}}, {5000, nil}, {9000, []string{""}},
		{10_500, names(20)},
		{25_000, names(1100)}, {30_000, names(150)}, // exact, ribbon
	}, uint64(35_000)
	b, err := sstable.NewFilterBlockBuilder(p)
	require.NoError(t, err)
	block := build(b, blocks, end)
	intact := sstable.NewFilterBlockReader(p, block)
	lost, always := map[policy.Encoding]int{}, map[policy.Encoding]int{}
	start := 0
	for i := range intact.NumFilters() {
		filter := intact.Filter(i)
		if len(filter) == 0 {
			continue
		}
		encoding := encodingOf(t, filter)
		for at := range filter {
			if len(filter) > 200 && at < len(filter)-20 && at%16 > 0 {
				continue // some of the many
			}
			for bit := range 8 {
				changed := bytes.Clone(block)
				changed[start+at] ^= 1 << bit
				r := sstable.NewFilterBlockReader(p, changed)
				require.NoError(t, r.Validate())
				_, malformed := policy.Parse(r.Filter(i))
				for _, b := range blocks {
					for _, key := range b.keys[:min(len(b.keys), 20)] {
						may := r.MayContain(b.offset, []byte(key))
						if b.offset>>11 != uint64(i) || malformed != nil {
							require.True(t, may, "%v, byte %d of %d, bit %d: key %q at %d",
								encoding, at, len(filter), bit, key, b.offset)
						} else if !may {
							lost[encoding]++
						}
					}
				}
				if malformed != nil {
					always[encoding]++
				}
			}
		}
		start += len(filter)
	}
	for _, e := range []policy.Encoding{policy.EncodingBloom, policy.EncodingRibbon} {
		require.Positive(t, lost[e], "%v: a bit that is changed loses keys", e)
		require.Positive(t, always[e], e)
	}
}

// Tables with filters of each encoding, and of all, of small and of large windows.
func TestTablesOfEncodings(t *testing.T) {
	all := policies()
	for name, p := range all {
		for _, baseLg := range []int{7, 11, 30} {
			users := names(3000)
			file, _ := writeTable(t, tableOptions{blockSize: 500, interval: 16, policy: p,
				baseLg: baseLg, internal: true, indexKey: shortInternalIndexKey},
				internalKeys(users...)...)
			table := openTable(t, file)
			require.Equal(t, []sstable.FilterEntry{{Policy: policy.Name,
				Handle: table.Filters()[0].Handle}}, table.Filters())
			for _, reader := range all {
				filter, err := table.Filter(reader)
				require.NoError(t, err)
				if baseLg == 30 {
					want := map[string]policy.Encoding{
						"exact":   policy.EncodingBloom,
						"ribbon":  policy.EncodingRibbon,
						"in turn": policy.EncodingBloom,
					}[name]
					require.Equal(t, want, encodingOf(t, filter.Windows().Filter(0)))
				}
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

// ribbonVictim is a table with one ribbon filter.
func ribbonVictim(t testing.TB) victim {
	p := policytest.Must(policy.NewRibbon(10))
	var users []string
	for i := range 400 {
		users = append(users, fmt.Sprintf("%03d", i))
	}
	var file bytes.Buffer
	w := newTableWriter(t, &file, tableOptions{
		blockSize: 1000, interval: 16, baseLg: 30, policy: p, internal: true,
		indexKey: shortInternalIndexKey,
	})
	for _, key := range internalKeys(users...) {
		w.add(key, nil)
	}
	w.finish()
	filter, err := openTable(t, file.Bytes()).Filter(p)
	require.NoError(t, err)
	require.Equal(t, policy.EncodingRibbon, encodingOf(t, filter.Windows().Filter(0)))
	require.Equal(t, sound, examine(t, file.Bytes(), users, p))
	return victim{"ribbon", file.Bytes(), w, users, sstable.InternalKeys}
}

// As TestFlips and TestFlipsWithChecksums, in the filter block of a table with a ribbon filter.
func TestRibbonFlips(t *testing.T) {
	v := ribbonVictim(t)
	p := policytest.Must(policy.NewBloom(10))
	block := v.w.filterBlock
	counts := map[bool]*[silent + 1]int{false: {}, true: {}}
	for at := int(block.Offset); at < int(block.Offset+block.Length); at++ {
		if at < int(block.Offset+block.Length)-64 && at%8 > 0 {
			continue // some of the many bits
		}
		for _, flip := range flips {
			for _, refreshed := range []bool{false, true} {
				changed := bytes.Clone(v.file)
				changed[at] ^= flip
				if refreshed {
					require.True(t, v.w.refresh(changed, at))
				}
				counts[refreshed][examine(t, changed, v.users, p)]++
			}
		}
	}
	t.Logf("%v with its checksum as it was, %v with a new one", *counts[false], *counts[true])
	old := counts[false]
	require.Zero(t, old[sound]+old[denied]+old[lost]+old[silent])
	require.Positive(t, counts[true][failed], "the filter block is no longer well formed")
	require.Positive(t, counts[true][sound], "such as a damaged trailer")
	require.Positive(t, counts[true][denied])
	require.Zero(t, counts[true][lost]+counts[true][silent])
}
