package analysis

import (
	"context"
	"fmt"
	"math"
	"regexp"
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
		require.Nil(t, r.BetweenCollisions)
		require.Empty(t, r.Others)
		require.Nil(t, advised(r, "absent keys"), "%q", r.Advice)
	}
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
	require.Greater(t, len(each), 3)
	change := func(i int, end ...byte) { each[i] = append(each[i][:20:20], end...) }
	change(0, 6, 1, 0x51)
	change(1, 6, 2, 0x42)
	change(2, 6, 1, 0x51)
	r := analyse(t, table, Options{Absent: 3000})
	require.False(t, r.Verified)
	require.Equal(t, fmt.Sprintf("blocked Bloom of unknown version 2 in 1 of %d filters; unknown encoding 0x51 in 2 of %d filters: every key may be contained", r.Filters, r.Filters), r.Unverified)
	require.Equal(t, map[string]int{"unknown encoding 0x51": 2, "blocked Bloom of unknown version 2": 1, exactName: r.Filters - 3}, r.Encodings)
	require.Zero(t, r.FalseNegatives)
	require.Equal(t, 3, r.Unmeasured)
	require.Greater(t, r.Random.Rate, 3/float64(r.Filters)-0.01, "all that were asked of these three pass")
	require.Positive(t, r.Between.Asked, "the others tell, and so do these")
	require.Empty(t, r.Others)
	require.Nil(t, advised(r, "hash"), "nobody knows the hash of these filters: %q", r.Advice)
	require.NotNil(t, advised(r, fmt.Sprintf(`^3 of %d filters answer "may contain" to every key here: blocked Bloom of unknown version 2: every key may be contained \(in 1\); unknown encoding 0x51: every key may be contained \(in 2\)\.$`, r.Filters)), "%q", r.Advice)

	clear(each[3][:len(each[3])-1])
	r = analyse(t, table, Options{Absent: 3000})
	require.Positive(t, r.FalseNegatives, "the filters that are known lose no key")

	// That all keys match such filters does not tell what an unknown policy's are.
	whole := wholeTableOf([]byte("some filter"), keys)
	whole.info.Filters.Policy, whole.info.Filters.Presumed = "mine", true
	r = analyse(t, whole, Options{Absent: 100})
	require.False(t, r.Verified)
	require.Empty(t, r.Encoding)
	require.Empty(t, r.Encodings)
	require.Equal(t, "the policy mine is not known here, and its filters were taken for LevelDB Bloom or blocked Bloom, version 1: unknown encoding 0x72 in 1 of 1 filter: every key may be contained", r.Unverified)
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
	table := windowTable(t, set.present, 10, 4096, 23)
	each := table.info.Filters.Each
	require.Len(t, each, 3)
	each[1] = append(each[1][:len(each[1])-1:len(each[1])-1], 0x51)
	each[2] = windowTableOf(mustBlocked(t, 10), set.present, 4096, 23).info.Filters.Each[2]
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
	require.Nil(t, advised(analyse(t, wholeTableOf(mustBlocked(t, 10).AppendFilter(nil, set.present), set.present), Options{}), regexp.QuoteMeta("C++")))
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
