package analysis

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/encoding"
)

const (
	exactName   = "LevelDB Bloom"
	blockedName = "blocked Bloom, version 1"
	fuseName    = "binary fuse, version 1"
)

// Dense keys, which LevelDB's encoding does not do well on: blocked Bloom keeps its rate, in windows and in one filter, and is
// measured as it is.
func TestBlockedTables(t *testing.T) {
	set := numbered(seeded(t, 1), "user%016d", 0, 20_000, 0.63)
	p := mustBlocked(t, 10)
	for layout, table := range map[string]*fakeTable{
		"windows":    windowTableOf(p, set.present, 4096, 11),
		"one filter": wholeTableOf(p.AppendFilter(nil, set.present), set.present),
	} {
		r := analyse(t, table, Options{})
		require.True(t, r.Verified, layout)
		require.Zero(t, r.FalseNegatives)
		require.Equal(t, blockedName, r.Encoding)
		require.Equal(t, map[string]int{blockedName: r.Filters}, r.Encodings)
		require.Equal(t, []int{6}, r.Probes)
		require.InEpsilon(t, len(set.present), r.Distinct, 0.02)
		require.Zero(t, r.Unmeasured)
		for _, rate := range []Rate{r.Between, r.Beyond, r.Random} {
			require.InEpsilon(t, r.FPP, rate.Rate, 0.2, "%s: the FPP is what keys of all kinds get", layout)
		}
		require.Nil(t, advised(r, "absent keys between your keys pass"), "%q", r.Advice)
		if layout == "one filter" { // where binary fuse is tried
			require.EqualValues(t, 0, *r.BetweenCollisions)
			require.Len(t, r.Others, 1)
			continue
		}
		require.Nil(t, r.BetweenCollisions)
		require.Empty(t, r.Others)
	}
}

// Binary fuse keeps its rate too, which the fingerprints' length tells. Nothing tells of bits, or of a number of keys.
func TestFuseTables(t *testing.T) {
	set := numbered(seeded(t, 7), "user%016d", 0, 20_000, 0.63)
	for bitsPerKey, width := range map[float64]int{12: 8, 16: 12} {
		p := mustFuse(t, bitsPerKey)
		for layout, table := range map[string]*fakeTable{
			"windows":    windowTableOf(p, set.present[:17_000], 4096, 19), // 4,000 keys each
			"one filter": wholeTableOf(p.AppendFilter(nil, set.present), set.present),
		} {
			r := analyse(t, table, Options{Absent: 200_000})
			require.True(t, r.Verified, layout)
			require.Zero(t, r.FalseNegatives)
			require.Equal(t, fuseName, r.Encoding)
			require.Equal(t, map[string]int{fuseName: r.Filters}, r.Encodings)
			require.Equal(t, math.Exp2(-float64(width)), r.FPP)
			for _, rate := range []Rate{r.Beyond, r.Random} {
				expected := r.FPP * float64(rate.Asked)
				require.InDelta(t, expected, float64(rate.Passed), 5*math.Sqrt(expected), layout)
			}
			require.Equal(t, []int{width}, r.FingerprintBits)
			cells, trailers := int64(0), 0
			for _, filter := range table.info.Filters.Each {
				cells += int64(len(filter)-16) * 8 / int64(width)
				trailers += 16
			}
			require.Equal(t, cells, r.Cells)
			require.InDelta(t, 8*float64(cells*int64(width)/8+int64(trailers))/float64(r.Entries), r.BitsPerKey, 1e-9)
			if layout == "windows" {
				require.Greater(t, r.Filters, 3)
				require.Nil(t, r.Fuse, "there are several")
			} else {
				filter := table.info.Filters.Each[0]
				trailer := filter[len(filter)-16:]
				require.Equal(t, &Fuse{SegmentCells: 1 << trailer[12], Seed: fmt.Sprintf("0x%016x", binary.LittleEndian.Uint64(trailer))}, r.Fuse)
			}
			require.Zero(t, r.Unmeasured)
			require.Zero(t, r.Saturated)
			require.Empty(t, r.Probes)
			require.Zero(t, r.Fill)
			require.Zero(t, r.Distinct)
			require.Nil(t, r.BetweenCollisions)
			require.Empty(t, r.Others)
			require.Nil(t, advised(r, "absent keys|few|bits set"), "%q", r.Advice)
		}
	}
}

// A filter whose cells and their layout do not fit has all keys, and the table is verified nonetheless, as with other odd
// filters: the advice says why.
func TestOddFuseFilters(t *testing.T) {
	keys := numbered(seeded(t, 8), "user%016d", 0, 3000, 0.63).present
	table := wholeTableOf(mustFuse(t, 12).AppendFilter(nil, keys), keys)
	filter := &table.info.Filters.Each[0]
	(*filter)[len(*filter)-3] = 10
	r := analyse(t, table, Options{Absent: 1000})
	require.True(t, r.Verified)
	require.Zero(t, r.FalseNegatives)
	require.Equal(t, 1, r.Unmeasured)
	require.Equal(t, 1.0, r.Random.Rate)
	require.Zero(t, r.FPP)
	require.Zero(t, r.Cells)
	require.Nil(t, r.Fuse)
	require.NotNil(t, advised(r, `^1 of 1 filters answer "may contain" to every key here: its fingerprints have 10 bits, and not 8, 12 or 16: every key may be contained \(in 1\)\.$`), "%q", r.Advice)

	// A changed cell loses the keys that have it.
	(*filter)[len(*filter)-3] = 8
	for i := range 3 {
		(*filter)[1000+i] ^= 1
	}
	lost := int64(0)
	for _, key := range keys {
		if !policy.MayContain(*filter, key) {
			lost++
		}
	}
	require.Positive(t, lost)
	require.Equal(t, lost, analyse(t, table, Options{Absent: 10}).FalseNegatives)
}

// The figures of a table that has filters with bits and with cells.
func TestBitsAndCells(t *testing.T) {
	keys := numbered(seeded(t, 9), "user%016d", 0, 12_000, 0.63).present
	table := windowTable(t, keys, 10, 4096, 18)
	each := table.info.Filters.Each
	require.Greater(t, len(each), 4)
	for i, bitsPerKey := range []float64{24, 12, 17} {
		each[i] = windowTableOf(mustFuse(t, bitsPerKey), keys, 4096, 18).info.Filters.Each[i]
	}
	each[3] = windowTableOf(mustBlocked(t, 10), keys, 4096, 18).info.Filters.Each[3]
	r := analyse(t, table, Options{Absent: 1000})
	require.True(t, r.Verified)
	require.Zero(t, r.FalseNegatives)
	require.Equal(t, map[string]int{fuseName: 3, blockedName: 1, exactName: r.Filters - 4}, r.Encodings)
	require.Equal(t, fmt.Sprintf("%s of %s; 3 filters of %s; 1 filter of %s", count(r.Filters-4, "filter"), exactName, fuseName, blockedName), r.Encoding)
	require.Equal(t, []int{6}, r.Probes)
	require.Equal(t, []int{8, 12, 16}, r.FingerprintBits)
	require.Nil(t, r.Fuse)
	fpp, fill, bits := 1.0/256+1.0/4096+1.0/65536, 0.0, 0.0
	distinct, cells := 0.0, int64(0)
	for i, filter := range each {
		s, ok := encoding.LevelDB.Measure(filter)
		require.True(t, ok)
		require.Equal(t, i < 3, s.Cells != nil)
		if i < 3 {
			cells += s.Cells.Number
			continue
		}
		fpp += s.FPP
		fill += float64(s.Set)
		bits += float64(s.Bits)
		distinct += s.Distinct
	}
	require.InEpsilon(t, fpp/float64(len(each)), r.FPP, 1e-9)
	require.InEpsilon(t, fill/bits, r.Fill, 1e-9)
	require.InEpsilon(t, distinct, r.Distinct, 1e-9)
	require.Equal(t, cells, r.Cells)
	require.Equal(t, fmt.Sprintf(`4 of %d filters are blocked Bloom or binary fuse, which only levelbloom's policies read: C++ LevelDB and goleveldb's own policy answer "may contain" to every key.`, r.Filters), r.Advice[1])

	copy(each, each[:1]) // keys of filters that are gone
	each[1] = each[0]
	require.Positive(t, analyse(t, table, Options{Absent: 10}).FalseNegatives)
}

// Filters of one table may be of several encodings.
func TestMixedTable(t *testing.T) {
	keys := numbered(seeded(t, 2), "user%016d", 0, 6000, 0.63).present
	table := windowTable(t, keys, 10, 4096, 11)
	each, blocked := table.info.Filters.Each, windowTableOf(mustBlocked(t, 20), keys, 4096, 11).info.Filters.Each
	want := map[string]int{}
	for i := range each {
		if i < len(each)/3 {
			each[i] = blocked[i]
		}
		if len(each[i]) > 0 {
			want[encoding.LevelDB.Of(each[i]).String()]++
		}
	}
	require.Len(t, want, 2)
	r := analyse(t, table, Options{})
	require.True(t, r.Verified)
	require.Zero(t, r.FalseNegatives)
	require.Equal(t, want, r.Encodings)
	require.Equal(t, fmt.Sprintf("%d filters of %s; %d filters of %s", want[exactName], exactName, want[blockedName], blockedName), r.Encoding)
	require.Equal(t, []int{6, 10}, r.Probes)
	require.InEpsilon(t, len(keys), r.Distinct, 0.25, "in small filters of LevelDB's, dense keys set few bits")
	require.Equal(t, fmt.Sprintf(`%d of %d filters are blocked Bloom, which only levelbloom's policies read: C++ LevelDB and goleveldb's own policy answer "may contain" to every key.`,
		want[blockedName], r.Filters), r.Advice[1])
	require.Empty(t, r.Others, "which of the two should be tried?")
	require.Nil(t, advised(r, "offset"))

	// Lost keys are seen in both.
	first, last := table.blocks[0], table.blocks[len(table.blocks)-1]
	clear(each[first.filter][:len(each[first.filter])-3])
	clear(each[last.filter][:len(each[last.filter])-1])
	r = analyse(t, table, Options{})
	require.EqualValues(t, len(first.keys)+len(last.keys), r.FalseNegatives)
}

// A filter that is not known here is not verified, and says so; the others are.
func TestUnknownKinds(t *testing.T) {
	keys := numbered(seeded(t, 3), "key%08d", 0, 3000, 0.5).present
	table := windowTable(t, keys, 10, 65536, 16)
	each := table.info.Filters.Each
	require.Greater(t, len(each), 4)
	change := func(i int, end ...byte) { each[i] = append(each[i][:20:20], end...) }
	change(0, 6, 1, 0x51)
	change(1, 6, 2, 0x42)
	change(2, 6, 1, 0x51)
	change(3, 8, 2, 0x46)
	r := analyse(t, table, Options{Absent: 3000})
	require.False(t, r.Verified)
	require.Equal(t, fmt.Sprintf("binary fuse of unknown version 2 in 1 of %[1]d filters; blocked Bloom of unknown version 2 in 1 of %[1]d filters; unknown encoding 0x51 in 2 of %[1]d filters: every key may be contained", r.Filters), r.Unverified)
	require.Equal(t, map[string]int{"unknown encoding 0x51": 2, "blocked Bloom of unknown version 2": 1, "binary fuse of unknown version 2": 1, exactName: r.Filters - 4}, r.Encodings)
	require.Zero(t, r.FalseNegatives)
	require.Equal(t, 4, r.Unmeasured)
	require.Greater(t, r.Random.Rate, 4/float64(r.Filters)-0.01, "all that were asked of these four pass")
	require.Positive(t, r.Between.Asked, "the others tell, and so do these")
	require.Empty(t, r.Others)
	require.Nil(t, advised(r, "hash"), "nobody knows the hash of these filters: %q", r.Advice)
	require.NotNil(t, advised(r, fmt.Sprintf(`^4 of %d filters answer "may contain" to every key here: binary fuse of unknown version 2: every key may be contained \(in 1\); blocked Bloom of unknown version 2: every key may be contained \(in 1\); unknown encoding 0x51: every key may be contained \(in 2\)\.$`, r.Filters)), "%q", r.Advice)

	clear(each[4][:len(each[4])-1])
	r = analyse(t, table, Options{Absent: 3000})
	require.Positive(t, r.FalseNegatives, "the filters that are known lose no key")

	// That all keys match such filters does not tell what an unknown policy's are.
	whole := wholeTableOf([]byte("some filter"), keys)
	whole.info.Filters.Policy, whole.info.Filters.Presumed = "mine", true
	r = analyse(t, whole, Options{Absent: 100})
	require.False(t, r.Verified)
	require.Empty(t, r.Encoding)
	require.Empty(t, r.Encodings)
	require.Equal(t, "the policy mine is not known here, and its filters were taken for LevelDB Bloom or blocked Bloom or binary fuse: unknown encoding 0x72 in 1 of 1 filter: every key may be contained", r.Unverified)
	require.Zero(t, r.Random)

	whole = wholeTableOf(mustBlocked(t, 10).AppendFilter(nil, keys), keys)
	whole.info.Filters.Policy, whole.info.Filters.Presumed = "mine", true
	r = analyse(t, whole, Options{Absent: 100})
	require.True(t, r.Verified)
	require.Equal(t, fmt.Sprintf("%s (the policy mine is not known here, but all of %d entries match)", blockedName, len(keys)), r.Encoding)
}

// An absent key that passes shares its hash with a key of its filter, as that filter's encoding hashes: 32 bits of LevelDB's
// are shared at times, 64 bits of XXH3 are not, and of an unknown encoding nobody knows.
func TestCollisionsByKind(t *testing.T) {
	set := numbered(seeded(t, 4), "%016d", 0, 200_000, 0.63)
	for _, p := range []policy.Policy{mustBlocked(t, 10), mustFuse(t, 10)} {
		table := windowTable(t, set.present, 10, 4096, 23)
		each := table.info.Filters.Each
		require.Len(t, each, 3)
		each[1] = append(each[1][:len(each[1])-1:len(each[1])-1], 0x51)
		each[2] = windowTableOf(p, set.present, 4096, 23).info.Filters.Each[2]
		type place struct {
			filter int
			hash   uint32
		}
		taken, want := map[place]bool{}, int64(0)
		require.NoError(t, table.Keys(func(filter int, key []byte) error {
			taken[place{filter, policy.Hash(key)}] = true
			return nil
		}))
		passed := suspects{}
		for _, key := range set.absent {
			filter := table.Locate(key)
			if !policy.MayContain(each[filter], key) {
				continue
			}
			s, ok := suspect(table.info.Filters, filter, key)
			require.Equal(t, filter != 1, ok)
			if ok {
				passed[s]++
			}
			switch {
			case filter == 2:
				require.Equal(t, suspicion{filter, xxh3.Hash(key)}, s)
			case ok && taken[place{filter, policy.Hash(key)}]:
				want++
			}
		}
		require.Positive(t, want)
		r := Report{Between: newRate(1, 1)}
		require.NoError(t, r.again(context.Background(), table, passed, nil))
		require.Equal(t, want, *r.BetweenCollisions)
	}
}

func TestAdviceOnBlockedBloom(t *testing.T) {
	const words = `^With policy\.NewBlockedBloom and the same (\d+) bits per key, ([\d.]+) % of absent keys between your keys would pass\. Its filters are blocked Bloom, which only levelbloom's policies read: C\+\+ LevelDB and goleveldb's own policy answer "may contain" to every key\.$`
	set := numbered(seeded(t, 5), "%016d", 0, 200_000, 0.63)
	for _, table := range []*fakeTable{
		windowTable(t, set.present[:20_000], 10, 4096, 11),
		wholeTable(t, set.present, 10),
	} {
		r := analyse(t, table, Options{})
		match := advised(r, words)
		require.NotNil(t, match, "%q", r.Advice)
		require.Equal(t, "10", match[1])
		rate, err := strconv.ParseFloat(match[2], 64)
		require.NoError(t, err)
		keys := table.keys()
		other := wholeTableOf(mustBlocked(t, 10).AppendFilter(nil, keys), keys)
		if table.info.Filters.PerWindow {
			other = windowTableOf(mustBlocked(t, 10), keys, 4096, 11)
		}
		require.InDelta(t, 100*analyse(t, other, Options{}).Between.Rate, rate, 0.4)
	}
	// Not where LevelDB's keep their rate, and not to who has them.
	for _, table := range []*fakeTable{
		wholeTable(t, set.present[:18_000], 10),
		windowTableOf(mustBlocked(t, 10), set.present[:20_000], 4096, 11),
	} {
		require.Nil(t, advised(analyse(t, table, Options{}), "NewBlockedBloom"))
	}
	// Other engines do not read LevelDB's table, so who reads it need not be said.
	for _, p := range []policy.Policy{mustBlocked(t, 10), mustFuse(t, 10)} {
		require.Nil(t, advised(analyse(t, wholeTableOf(filterOf(p, set.present), set.present), Options{}), `of \d+ filters are (blocked Bloom|binary fuse)`))
	}
}

func TestAdviceOnBinaryFuse(t *testing.T) {
	const words = `^With policy\.NewBinaryFuse and the same (\d+) bits per key, ([\d.]+) % of absent keys between your keys would pass instead of ([\d.]+) %\. Its filters are binary fuse, which only levelbloom's policies read: C\+\+ LevelDB and goleveldb's own policy answer "may contain" to every key\. They take more time and memory to make\.$`
	dense := numbered(seeded(t, 10), "%016d", 0, 200_000, 0.63).present
	random := hashed(dense)
	for name, table := range map[string]*fakeTable{
		"dense":         wholeTable(t, dense, 10),
		"random":        wholeTable(t, random, 10),
		"blocked":       wholeTableOf(mustBlocked(t, 10).AppendFilter(nil, random), random),
		"large windows": windowTable(t, random, 10, 4096, 23),
	} {
		r := analyse(t, table, Options{})
		match := advised(r, words)
		require.NotNil(t, match, "%s: %q", name, r.Advice)
		require.Equal(t, "10", match[1])
		would, err := strconv.ParseFloat(match[2], 64)
		require.NoError(t, err)
		require.InDelta(t, 100.0/256, would, 0.18, name) // five standard errors
		now, err := strconv.ParseFloat(match[3], 64)
		require.NoError(t, err)
		require.InEpsilon(t, 100*r.Between.Rate, now, 0.06, name)
		require.Equal(t, name == "dense", advised(r, "NewBlockedBloom") != nil)
	}
	for name, table := range map[string]*fakeTable{
		"small windows":    windowTable(t, dense, 10, 4096, 11),
		"10,000 keys":      wholeTable(t, dense[:10_000], 10),
		"9 bits":           wholeTable(t, dense, 9),
		"12.2 bits, dense": wholeTable(t, dense, 12.2), // blocked Bloom is as good
		"16 bits":          wholeTable(t, random, 16),
		"16 bits, dense":   wholeTable(t, dense, 16), // blocked Bloom does well enough
		"fuse":             wholeTableOf(mustFuse(t, 10).AppendFilter(nil, dense), dense),
	} {
		r := analyse(t, table, Options{})
		require.Nil(t, advised(r, "NewBinaryFuse"), "%s: %q", name, r.Advice)
		require.Equal(t, name == "12.2 bits, dense" || name == "16 bits, dense", slices.ContainsFunc(r.Others, func(o Other) bool { return o.Encoding == fuseName }), name)
	}
}

// The setting and the sizes of blocked filters, told from their sizes as those of LevelDB's are.
func TestBlockedLayout(t *testing.T) {
	rng := seeded(t, 6)
	for _, bitsPerKey := range []float64{3, 8, 10, 16, 20, 50} {
		p := mustBlocked(t, bitsPerKey)
		for _, blockSize := range []int{512, 4096, 65536, 400_000} {
			keys := numbered(rng, "%016d", 0, 3000+rng.IntN(3000), 0.5).present
			table := windowTableOf(p, keys, blockSize, 11)
			l := analyseLayout(t, table)
			require.Equal(t, encoding.BlockedBloom, l.encoding)
			n := float64(len(keys) / len(table.blocks)) // keys of a filter
			slack := max(8/n, 0.01)
			if bitsPerKey*n > 8*blockedSingle {
				slack = 8 * blockedLine / n
			}
			require.InDelta(t, bitsPerKey, l.bitsPerKey, slack, "%v bits, blocks of %d", bitsPerKey, blockSize)

			l.bitsPerKey = bitsPerKey
			for baseLg := 11; baseLg <= 22; baseLg++ {
				require.Equal(t, windowTableOf(p, keys, blockSize, baseLg).info.Filters.Bytes, l.blockBytes(baseLg), "%v bits, blocks of %d, base_lg %d", bitsPerKey, blockSize, baseLg)
			}
		}
	}
	require.Equal(t, 10.0, analyseLayout(t, windowTableOf(mustBlocked(t, 10), numbered(rng, "%016d", 0, 20_000, 0.5).present, 4096, 11)).bitsPerKey)

	// Few bits: more are tried with the same encoding.
	dense := analyse(t, windowTable(t, numbered(rng, "user%016d", 0, 20_000, 0.63).present, 3, 4096, 11), Options{})
	require.NotNil(t, advised(dense, `^3 bits per key are few: [\d.]+ % of random keys pass; with 10 bits [\d.]+ % would, for \d+ bytes more\.$`), "%q", dense.Advice)
	keys := numbered(rng, "key%08d", 0, 10_000, 0.5).present
	r := analyse(t, windowTableOf(mustBlocked(t, 3), keys, 65536, 16), Options{})
	require.NotNil(t, advised(r, `^3 bits per key are few: .*; with 10 bits .*\.$`), "%q", r.Advice)
	require.Len(t, r.Others, 1)
	require.Equal(t, blockedName, r.Others[0].Encoding)
	require.Less(t, math.Abs(r.Others[0].Random.Rate-0.0096), 0.004)
}
