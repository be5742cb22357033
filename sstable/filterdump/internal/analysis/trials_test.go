package analysis

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/encoding"
)

// Collisions are counted as they are found by comparing each absent key that passes with all keys of its filter.
func TestCollisions(t *testing.T) {
	set := numbered(seeded(t, 1), "%016d", 0, 100_000, 0.63)
	for _, table := range []*fakeTable{
		wholeTable(t, set.present, 10),
		windowTable(t, set.present, 10, 4096, 23),
	} {
		type place struct {
			filter int
			hash   uint32
		}
		taken := map[place]bool{}
		require.NoError(t, table.Keys(func(filter int, key []byte) error {
			taken[place{filter, policy.Hash(key)}] = true
			return nil
		}))
		want, passed := int64(0), int64(0)
		for _, key := range set.absent {
			if asked, may := table.ask(key); asked && may {
				passed++
				if taken[place{table.Locate(key), policy.Hash(key)}] {
					want++
				}
			}
		}
		r := analyse(t, table, Options{})
		require.EqualValues(t, len(set.absent), r.Between.Asked, "all are asked for")
		require.Equal(t, passed, r.Between.Passed)
		require.Positive(t, want)
		require.NotNil(t, r.BetweenCollisions)
		require.Equal(t, want, *r.BetweenCollisions)
	}
}

// A key that passed counts once for each absent key of its filter and hash, however many keys have these.
func TestCollisionsCountOnce(t *testing.T) {
	table := exactTable([]string{"a", "a", "b"}, []string{"c"})
	f := table.info.Filters
	passed := suspects{}
	for key, n := range map[string]int64{"0a": 3, "1a": 5, "1c": 7, "0x": 9} {
		s, ok := suspect(f, int(key[0]-'0'), []byte(key[1:]))
		require.True(t, ok)
		passed[s] = n
	}
	r := Report{Between: newRate(100, 24)}
	require.NoError(t, r.again(context.Background(), table, passed, nil))
	require.EqualValues(t, 3+7, *r.BetweenCollisions)
}

// Nothing is read twice without a reason.
func TestNoSecondPass(t *testing.T) {
	keys := numbered(seeded(t, 2), "key%08d", 0, 18_000, 0.5).present
	for _, table := range []*fakeTable{
		wholeTable(t, keys[:10_000], 10), // 8 bits for each key, and what binary fuse needs besides, are more
		wholeTable(t, keys, 15),          // few absent keys pass
		wholeTable(t, keys, 8),
		wholeTableOf(mustFuse(t, 12).AppendFilter(nil, keys), keys),
	} {
		r := analyse(t, table, Options{})
		require.Nil(t, r.BetweenCollisions)
		require.Empty(t, r.Others)
	}
}

// What other settings would do is what filters of these settings do.
func TestOtherSettings(t *testing.T) {
	set := numbered(seeded(t, 3), "user%016d", 0, 60_000, 0.63)
	table := windowTable(t, set.present, 10, 4096, 11)
	r := analyse(t, table, Options{})
	var settings []int
	for _, o := range r.Others {
		settings = append(settings, int(o.BitsPerKey)*100+o.BaseLg)
		other := otherTable(t, set.present, o)
		passed := 0
		for _, key := range set.absent {
			if _, may := other.ask(key); may {
				passed++
			}
		}
		require.EqualValues(t, maxQuestions, o.Between.Asked)
		require.EqualValues(t, maxRandom, o.Random.Asked)
		requireRate(t, float64(passed)/float64(len(set.absent)), o.Between)

		random := analyse(t, other, Options{Seed: 5}).Random
		require.LessOrEqual(t, o.Random.Low, random.High, "%+v", o)
		require.GreaterOrEqual(t, o.Random.High, random.Low, "%+v", o)
	}
	require.Equal(t, []int{2011, 1011, 1014, 1016, 1018, 1020}, settings)
	require.Equal(t, encoding.BlockedBloom.String(), r.Others[1].Encoding)
}

// otherTable has the filters of another setting than a windowTable of 10 bits per key in blocks of 4096.
func otherTable(t testing.TB, keys [][]byte, o Other) *fakeTable {
	p := map[string]policy.Policy{
		exactName:   mustBloom(t, o.BitsPerKey),
		blockedName: mustBlocked(t, o.BitsPerKey),
		fuseName:    mustFuse(t, o.BitsPerKey),
	}[o.Encoding]
	if o.BaseLg == 0 {
		return wholeTableOf(filterOf(p, keys), keys)
	}
	return windowTableOf(p, keys, 4096, o.BaseLg)
}

// With fewer absent keys than a trial asks for, its answers are exactly those of the other filters.
func TestOtherSettingsExactly(t *testing.T) {
	set := numbered(seeded(t, 4), "user%016d", 0, 8_000, 0.63)
	table := windowTable(t, set.present, 10, 4096, 11)
	table.blocks = append(table.blocks, fakeBlock{-1, [][]byte{[]byte("z")}}) // an entry without a filter is in no other
	r := analyse(t, table, Options{})
	require.Less(t, len(set.absent), maxQuestions)
	require.Len(t, r.Others, 6)
	for _, o := range r.Others {
		other := otherTable(t, set.present, o)
		passed := int64(0)
		for _, key := range set.absent {
			if _, may := other.ask(key); may {
				passed++
			}
		}
		require.EqualValues(t, len(set.absent), o.Between.Asked)
		require.Equal(t, passed, o.Between.Passed, "%+v", o)
	}
}

// Binary fuse is tried where filters have many keys, and blocked Bloom besides where LevelDB's do badly.
func TestBinaryFuseIsTried(t *testing.T) {
	set := numbered(seeded(t, 6), "user%016d", 0, 100_000, 0.8)
	keys := set.present
	for name, c := range map[string]struct {
		table *fakeTable
		want  []string
	}{
		"dense":            {wholeTable(t, keys, 10), []string{exactName, blockedName, fuseName}},
		"dense, long ones": {wholeTable(t, keys, 20), []string{exactName, blockedName, fuseName}},
		"dense, blocked":   {wholeTableOf(mustBlocked(t, 10).AppendFilter(nil, keys), keys), []string{fuseName}},
		"random":           {wholeTable(t, hashed(keys), 10), []string{fuseName}},
		"large windows":    {windowTable(t, keys, 10, 4096, 22), []string{fuseName}},
		"small windows":    {windowTable(t, keys, 10, 4096, 11), []string{exactName, blockedName}},
		"too few bits":     {wholeTable(t, keys, 9), []string{exactName, blockedName}},
		"not below 12.25":  {wholeTable(t, keys, 13), []string{exactName, blockedName}},
	} {
		r := analyse(t, c.table, Options{})
		var names []string
		for _, o := range r.Others {
			if o.BaseLg != c.table.info.Filters.BaseLg {
				continue
			}
			names = append(names, o.Encoding)
			if name == "random" {
				continue
			}
			other := otherTable(t, c.table.keys(), o)
			passed := int64(0)
			for _, key := range set.absent {
				if asked, may := other.ask(key); asked && may {
					passed++
				}
			}
			require.Equal(t, r.Between.Asked, o.Between.Asked, name)
			require.Equal(t, passed, o.Between.Passed, "%s: %+v", name, o)
		}
		require.Equal(t, c.want, names, name)
	}
}

func TestOtherSettingsOfWholeTables(t *testing.T) {
	set := numbered(seeded(t, 5), "%016d", 0, 10_000, 0.63)
	r := analyse(t, wholeTable(t, set.present, 2), Options{})
	require.Len(t, r.Others, 1)
	o := r.Others[0]
	require.Equal(t, 10.0, o.BitsPerKey)
	require.Zero(t, o.BaseLg)
	other := wholeTable(t, set.present, 10)
	passed := int64(0)
	for _, key := range set.absent {
		if _, may := other.ask(key); may {
			passed++
		}
	}
	require.Equal(t, passed, o.Between.Passed)
}

// Windows without keys answer "absent", and their absent keys are asked for all the same.
func TestTrialAnswersForEmptyWindows(t *testing.T) {
	l := layout{bitsPerKey: 10, perWindow: true, baseLg: 11, keys: []int64{1, 0, 0, 0, 1}}
	key := []byte("key")
	trial := newTrial(l, encoding.LevelDBBloom, 20, 12, []question{{0, key}, {1, key}, {3, key}, {4, []byte("absent")}}, []question{{2, key}})
	trial.add(0, key)
	trial.add(4, key)
	o, ok := trial.conclude()
	require.True(t, ok)
	require.EqualValues(t, 4, o.Between.Asked)
	require.EqualValues(t, 2, o.Between.Passed, "windows 0 and 1 are one")
	require.EqualValues(t, 1, o.Random.Asked)
	require.Zero(t, o.Random.Passed)
}

// A trial is not made where it would take too much memory, and gives nothing where filters do not come in order.
func TestTrialRefused(t *testing.T) {
	l := layout{bitsPerKey: 10, perWindow: true, baseLg: 11, keys: []int64{maxTrialKeys, 1}}
	require.NotNil(t, newTrial(l, encoding.LevelDBBloom, 10, 11, nil, nil))
	require.Nil(t, newTrial(l, encoding.LevelDBBloom, 10, 12, nil, nil))
	require.NotNil(t, newTrial(l, encoding.LevelDBBloom, 60, 11, nil, nil))
	require.Nil(t, newTrial(l, encoding.LevelDBBloom, 70, 11, nil, nil), "18 MB")
	require.Nil(t, newTrial(l, encoding.LevelDBBloom, 0, 11, nil, nil))
	l.keys[0] = maxFuseTrialKeys
	require.NotNil(t, newTrial(l, encoding.BinaryFuse, 10, 11, nil, nil))
	require.NotNil(t, newTrial(l, encoding.BlockedBloom, 10, 12, nil, nil))
	require.Nil(t, newTrial(l, encoding.BinaryFuse, 10, 12, nil, nil))

	trial := newTrial(layout{perWindow: true, baseLg: 11, keys: []int64{2, 1}}, encoding.LevelDBBloom, 10, 11, nil, nil)
	for _, filter := range []int{0, 1, 0} {
		trial.add(filter, []byte("key"))
	}
	_, ok := trial.conclude()
	require.False(t, ok)
}

// Where the policy chooses another encoding for most filters, as for few keys, the trial is none of this encoding.
func TestTrialOfAnotherEncoding(t *testing.T) {
	for few, want := range map[int]bool{0: true, 1: true, 2: false} {
		l := layout{bitsPerKey: 12, perWindow: true, baseLg: 11, keys: []int64{2000, 5, 5}[:1+few]}
		trial := newTrial(l, encoding.BinaryFuse, 12, 11, nil, nil)
		for i, n := range l.keys {
			for j := range n {
				trial.add(i, fmt.Append(nil, j))
			}
		}
		_, ok := trial.conclude()
		require.Equal(t, want, ok, "%d small filters", few)
	}
}

// Only filters of LevelDB's encoding have a layout to try.
func TestNoTrialOfOtherEncodings(t *testing.T) {
	table := exactTable([]string{"1", "3"})
	require.NotEqual(t, encoding.LevelDB, table.info.Filters.Encoding)
	_, ok := layoutOf(table.info.Filters, []int64{2})
	require.False(t, ok)
}
