package analysis

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// Nothing is read twice without a reason.
func TestNoSecondPass(t *testing.T) {
	keys := numbered(seeded(t, 2), "key%08d", 0, 18_000, 0.5).present
	for _, table := range []*fakeTable{
		wholeTable(t, keys, 10), // few false positives
		wholeTable(t, keys, 15),
		wholeTableOf(mustBlocked(t, 8).AppendFilter(nil, keys), keys),
	} {
		require.Empty(t, analyze(t, table, Options{}).Trials)
	}
}

// What other settings would do is what filters of these settings do.
func TestOtherSettings(t *testing.T) {
	set := numbered(seeded(t, 3), "user%016d", 0, 60_000, 0.63)
	table := windowTable(t, set.present, 10, 4096, 11)
	r := analyze(t, table, Options{})
	var settings []int
	for _, o := range r.Trials {
		settings = append(settings, int(o.BitsPerKey)*100+o.BaseLg)
		other := otherTable(t, set.present, o)
		passed := 0
		for _, key := range set.absent {
			if _, may := other.ask(key); may {
				passed++
			}
		}
		require.EqualValues(t, maxBetweenQuestions, o.Between.Asked)
		require.EqualValues(t, maxRandomQuestions, o.Random.Asked)
		requireRate(t, float64(passed)/float64(len(set.absent)), o.Between)

		random := analyze(t, other, Options{Seed: 5}).Random
		require.LessOrEqual(t, o.Random.Low, random.High, "%+v", o)
		require.GreaterOrEqual(t, o.Random.High, random.Low, "%+v", o)
	}
	require.Equal(t, []int{2011, 1011, 1014, 1016, 1018}, settings)
	require.Equal(t, "blocked Bloom", r.Trials[1].Encoding)
}

// otherTable has the filters of another setting than a windowTable of 10 bits per key in blocks of 4096.
func otherTable(t testing.TB, keys [][]byte, o Trial) *fakeTable {
	p := map[string]policy.Policy{
		exactName:   mustBloom(t, o.BitsPerKey),
		blockedName: mustBlocked(t, o.BitsPerKey),
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
	r := analyze(t, table, Options{})
	require.Less(t, len(set.absent), maxBetweenQuestions)
	require.Len(t, r.Trials, 5)
	for _, o := range r.Trials {
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

func TestOtherSettingsOfWholeTables(t *testing.T) {
	set := numbered(seeded(t, 5), "%016d", 0, 10_000, 0.63)
	r := analyze(t, wholeTable(t, set.present, 2), Options{})
	require.Len(t, r.Trials, 1)
	o := r.Trials[0]
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

// newTestTrial returns a trial with windows, or one filter, and these questions.
func newTestTrial(perWindow bool, bitsPerKey float64, baseLg int, between, random []question) *trial {
	p := &prober{analyzer: &analyzer{setting: &setting{kind: kinds[0], perWindow: perWindow, baseLg: 11}}}
	p.between.sample, p.random.sample = between, random
	return p.newTrial(kinds[0], bitsPerKey, baseLg)
}

// Windows without keys answer "absent", and their absent keys are asked about all the same.
func TestTrialAnswersForEmptyWindows(t *testing.T) {
	key := []byte("key")
	trial := newTestTrial(true, 20, 12,
		[]question{{0, key}, {1, key}, {3, key}, {4, []byte("absent")}}, []question{{2, key}})
	trial.add(0, key)
	trial.add(4, key)
	result, ok := trial.conclude()
	require.True(t, ok)
	require.EqualValues(t, 4, result.Between.Asked)
	require.EqualValues(t, 2, result.Between.Passed, "windows 0 and 1 are one")
	require.EqualValues(t, 1, result.Random.Asked)
	require.Zero(t, result.Random.Passed)
}

// A trial gives nothing where it would take too much memory, where filters do not come in order, and
// where there is no such policy.
func TestTrialFails(t *testing.T) {
	concludes := func(trial *trial, indexes ...int) bool {
		for _, filter := range indexes {
			trial.add(filter, []byte("key"))
		}
		_, ok := trial.conclude()
		return ok
	}
	require.True(t, concludes(newTestTrial(true, 10, 11, nil, nil), 0, 1, 2))
	require.False(t, concludes(newTestTrial(true, 10, 11, nil, nil), 0, 1, 0))
	require.False(t, concludes(newTestTrial(true, 0, 11, nil, nil), 0))
	require.True(t, concludes(newTestTrial(true, 4*maxTrialBytes, 11, nil, nil), 0, 1), "32 bits for the trailer")
	require.False(t, concludes(newTestTrial(true, 9*maxTrialBytes, 11, nil, nil), 0, 1))
	trial := newTestTrial(true, 1, 11, nil, nil)
	for range maxTrialKeys {
		trial.add(0, []byte("key"))
	}
	require.False(t, trial.failed)
	trial.add(0, []byte("key"))
	require.True(t, trial.failed)
}

// Pebble adds a repeated key once.
func TestTrialOfRepeatedKeys(t *testing.T) {
	for perWindow, want := range map[bool]int{true: 3, false: 2} {
		trial := newTestTrial(perWindow, 10, 11, nil, nil)
		for _, key := range []string{"a", "a", "b"} {
			trial.add(0, []byte(key))
		}
		require.Equal(t, want, trial.builder.Len())
	}
}
