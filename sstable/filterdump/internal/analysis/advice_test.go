package analysis

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// advised returns the sentence of the advice that matches, and its parenthesized parts; nil if there
// is none.
func advised(r *Report, pattern string) []string {
	for _, sentence := range r.Advice {
		if match := regexp.MustCompile(pattern).FindStringSubmatch(sentence); match != nil {
			return match
		}
	}
	return nil
}

// rateOf reads a rate in per cent.
func rateOf(t *testing.T, text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return x / 100
}

func TestAdviceOnNames(t *testing.T) {
	const (
		levelDB = "LevelDB"
		within  = "LevelDB, written by RocksDB or Pebble"
		pebble  = "Pebble v4"
		rocksDB = "RocksDB format_version 2"
		builtin = "rocksdb.BuiltinBloomFilter"

		inLevelDB   = "C++ LevelDB uses them; goleveldb does with levelbloom's Configure, or with a policy of this name in Filter or AltFilters"
		inGoLevelDB = "goleveldb uses them; C++ LevelDB does not, because it looks for leveldb.BuiltinBloomFilter2"
		inPebble    = "Pebble and RocksDB use them; goleveldb and C++ LevelDB do not"
		configured  = "only an engine that is configured with a policy of this name uses them"
	)
	for _, c := range []struct{ format, name, uses string }{
		{levelDB, policy.Name, inLevelDB},
		{levelDB, policy.NameGoLevelDB, inGoLevelDB},
		{levelDB, builtin, inPebble},
		{within, builtin, inPebble},
		{levelDB, "mine", configured},
		{pebble, "mine", configured},
		{pebble, policy.Name, configured},
		{pebble, builtin, ""},
		{rocksDB, builtin, ""},
	} {
		got := adviseName(findings{format: c.format, policy: c.name})
		if c.uses == "" {
			require.Empty(t, got)
		} else {
			require.Equal(t, fmt.Sprintf("The filters are named %s: %s.", c.name, c.uses), got)
		}
	}
}

// A sound table gets advice on its name alone; one with all bits set is told so.
func TestAdviceOnSaturatedFilters(t *testing.T) {
	keys := numbered(seeded(t, 1), "key%08d", 0, 6000, 0.5).present
	table := windowTable(t, keys, 10, 65536, 16)
	require.Len(t, analyze(t, table, Options{}).Advice, 1)
	filter := table.info.Filters.Each[1]
	for i := range filter[:len(filter)-1] {
		filter[i] = 0xff
	}
	r := analyze(t, table, Options{})
	require.Equal(t, 1, r.Saturated)
	require.NotNil(t, advised(r, fmt.Sprintf(`^1 of %d filters have all bits set`, r.Filters)))
}

func TestAdviceOnFewBits(t *testing.T) {
	const words = `^(\d) bits per key are few: the FPR of random keys is ([\d.]+) %; with 10 bits it would be ([\d.]+) %\.$`
	keys := numbered(seeded(t, 2), "key%08d", 0, 10_000, 0.5).present
	for _, table := range []*fakeTable{
		wholeTable(t, keys, 3), windowTable(t, keys, 3, 65536, 16),
		windowTableOf(mustBlocked(t, 3), keys, 65536, 16),
	} {
		r := analyze(t, table, Options{})
		match := advised(r, words)
		require.NotNil(t, match, "%q", r.Advice)
		require.Equal(t, "3", match[1])
		require.InDelta(t, r.Random.Rate, rateOf(t, match[2]), 0.001)
		require.Equal(t, r.Encodings, map[string]int{r.Trials[0].Encoding: r.Filters})
		better := wholeTable(t, keys, 10)
		require.InDelta(t, analyze(t, better, Options{}).Random.Rate, rateOf(t, match[3]), 0.005)
	}
	require.Nil(t, advised(analyze(t, wholeTable(t, keys, 5), Options{}), "few"))
}

// Pebble's filters know the prefixes that a Split returns. Their bits are counted per prefix.
func TestFewPrefixes(t *testing.T) {
	var keys, prefixes [][]byte
	for i := range 4 {
		prefix := []byte(fmt.Sprintf("prefix%d", i))
		prefixes = append(prefixes, prefix)
		for range 170 {
			keys = append(keys, prefix)
		}
	}
	filter := mustBloom(t, 10).AppendFilter(nil, prefixes)
	r := analyze(t, wholeTableOf(filter, keys[:679]), Options{})
	require.EqualValues(t, 679, r.Entries)
	require.EqualValues(t, 4, r.Keys)
	require.EqualValues(t, 8*len(filter)/4, r.BitsPerKey)
	require.EqualValues(t, 4, r.KeysPerFilter)
	require.Nil(t, advised(r, "few"), "%q", r.Advice)
	require.Empty(t, r.Trials)
}

// Windows of few keys: more bits help, and larger windows.
func TestAdviceOnDenseKeysInSmallFilters(t *testing.T) {
	set := numbered(seeded(t, 3), "user%016d", 0, 20_000, 0.63)
	r := analyze(t, windowTable(t, set.present, 10, 4096, 11), Options{})
	match := advised(r, `^The FPR is ([\d.]+) % between your keys and ([\d.]+) % for random ones; with 20 bits per key it would be ([\d.]+) % between them; with goleveldb's FilterBaseLg (\d+) it would be ([\d.]+) %\.$`)
	require.NotNil(t, match, "%q", r.Advice)
	require.InDelta(t, r.Between.Rate, rateOf(t, match[1]), 0.001)
	require.InDelta(t, r.Random.Rate, rateOf(t, match[2]), 0.001)
	require.Less(t, rateOf(t, match[3]), rateOf(t, match[1])/2)
	wider := slices.DeleteFunc(r.Trials, func(o Trial) bool { return o.BaseLg == 11 })
	for i, o := range wider {
		if match[4] != strconv.Itoa(o.BaseLg) {
			continue
		}
		require.InDelta(t, o.Between.Rate, rateOf(t, match[5]), 0.001)
		for j, other := range wider {
			require.Less(t, rateOf(t, match[5]), 1.3*other.Between.Rate, "none of the others is much better")
			if j < i {
				require.Greater(t, other.Between.Rate, rateOf(t, match[5]), "smaller windows are worse")
			}
		}
		return
	}
	t.Fatalf("no such setting: %v", r.Trials)
}

// Many keys in one filter share hashes, and no number of bits helps.
func TestAdviceOnSharedHashes(t *testing.T) {
	set := numbered(seeded(t, 4), "%016d", 0, 200_000, 0.63)
	r := analyze(t, wholeTable(t, set.present, 10), Options{})
	match := advised(r, `^The FPR is ([\d.]+) % between your keys and [\d.]+ % for random ones; with 20 bits per key it would still be ([\d.]+) % between them\.$`)
	require.NotNil(t, match, "%q", r.Advice)
	taken := map[uint32]bool{}
	for _, key := range set.present {
		taken[policy.Hash(key)] = true
	}
	shared := 0
	for _, key := range set.absent {
		if taken[policy.Hash(key)] {
			shared++
		}
	}
	require.InDelta(t, float64(shared)/float64(len(set.absent)), rateOf(t, match[2]), 0.015)
}

func TestAdviceOnDenseKeysOnlyIfTheyAre(t *testing.T) {
	set := numbered(seeded(t, 5), "key%08d", 0, 18_000, 0.5)
	r := analyze(t, wholeTable(t, set.present, 10), Options{})
	require.Nil(t, advised(r, "between your keys"), "%q", r.Advice)
}

// Blocked Bloom is named where LevelDB's encoding has many false positives, and is what it says.
func TestAdviceOnOtherKinds(t *testing.T) {
	const words = `^With policy\.NewBlockedBloom and the same (\d+) bits per key, the FPR would be ([\d.]+) % between your keys\. \(Of its filters: only levelbloom reads them; .*\)$`
	set := numbered(seeded(t, 6), "%016d", 0, 200_000, 0.63)
	for _, table := range []*fakeTable{
		windowTable(t, set.present[:20_000], 10, 4096, 11),
		wholeTable(t, set.present, 10),
	} {
		r := analyze(t, table, Options{})
		match := advised(r, words)
		require.NotNil(t, match, "%q", r.Advice)
		require.Equal(t, "10", match[1])
		keys := table.keys()
		other := wholeTableOf(mustBlocked(t, 10).AppendFilter(nil, keys), keys)
		if table.info.Filters.PerWindow {
			other = windowTableOf(mustBlocked(t, 10), keys, 4096, 11)
		}
		require.InDelta(t, analyze(t, other, Options{}).Between.Rate, rateOf(t, match[2]), 0.004)
	}
	// Not where LevelDB's encoding keeps its rate, and not where the filters are blocked Bloom.
	blocked := windowTableOf(mustBlocked(t, 10), set.present[:20_000], 4096, 11)
	for _, table := range []*fakeTable{wholeTable(t, set.present[:18_000], 10), blocked} {
		require.Nil(t, advised(analyze(t, table, Options{}), "NewBlockedBloom"))
	}
	r := analyze(t, blocked, Options{})
	require.NotNil(t, advised(r, fmt.Sprintf(`^%d of %[1]d filters are blocked Bloom: only levelbloom reads them`, r.Filters)))
	// Other engines do not read Pebble's tables.
	whole := wholeTableOf(mustBlocked(t, 10).AppendFilter(nil, set.present), set.present)
	require.Nil(t, advised(analyze(t, whole, Options{}), "only levelbloom reads"))
}
