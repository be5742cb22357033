package analysis

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/encoding"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// advised returns the sentence of the advice that matches, and its parenthesized parts; nil if there is none.
func advised(r *Report, pattern string) []string {
	for _, sentence := range r.Advice {
		if match := regexp.MustCompile(pattern).FindStringSubmatch(sentence); match != nil {
			return match
		}
	}
	return nil
}

func TestAdviceOnNames(t *testing.T) {
	const (
		levelDB = "LevelDB"
		within  = "LevelDB, written by RocksDB or Pebble"
		pebble  = "Pebble v4"
		rocksDB = "RocksDB format_version 2"
	)
	for _, c := range []struct{ format, name, want string }{
		{levelDB, policy.Name, "The filters are named leveldb.BuiltinBloomFilter2, as C++ LevelDB names them: goleveldb does not use them unless its Filter or AltFilters has a policy of this name, which levelbloom's Configure sees to."},
		{levelDB, policy.NameGoLevelDB, "The filters are named leveldb.BuiltinBloomFilter, as goleveldb names them: C++ LevelDB does not use them, it looks for leveldb.BuiltinBloomFilter2."},
		{levelDB, "rocksdb.BuiltinBloomFilter", "The filters are named rocksdb.BuiltinBloomFilter: goleveldb and C++ LevelDB do not use them; Pebble and RocksDB do."},
		{within, "rocksdb.BuiltinBloomFilter", "The filters are named rocksdb.BuiltinBloomFilter: goleveldb and C++ LevelDB do not use them; Pebble and RocksDB do."},
		{levelDB, "mine", "The filters are named mine: only an engine that is configured with a policy of this name uses them."},
		{pebble, "mine", "The filters are named mine: only an engine that is configured with a policy of this name uses them."},
		{pebble, policy.Name, "The filters are named leveldb.BuiltinBloomFilter2: only an engine that is configured with a policy of this name uses them."},
		{pebble, "rocksdb.BuiltinBloomFilter", ""},
		{rocksDB, "rocksdb.BuiltinBloomFilter", ""},
	} {
		got := adviseName(findings{format: c.format, filters: &tables.Filters{Policy: c.name}})
		require.Equal(t, c.want, got, "%s in %s", c.name, c.format)
	}
}

// The rules that speak of bits, on tables that call for them and on a sound one.
func TestAdviceOnBits(t *testing.T) {
	rng := seeded(t, 1)
	keys := numbered(rng, "key%08d", 0, 6000, 0.5).present
	sound := windowTable(t, keys, 10, 65536, 16)
	r := analyse(t, sound, Options{})
	require.Len(t, r.Advice, 1, "only that on its name: %q", r.Advice)

	// k = 0, and LevelDB's reserve.
	table := windowTable(t, keys, 10, 65536, 16)
	each := table.info.Filters.Each
	each[0] = append(each[0][:len(each[0])-1:len(each[0])-1], 0)
	each[1] = append(each[1][:len(each[1])-1:len(each[1])-1], 31)
	r = analyse(t, table, Options{})
	require.Equal(t, 2, r.Unmeasured)
	require.Zero(t, r.FalseNegatives)
	require.NotNil(t, advised(r, fmt.Sprintf(`^2 of %d filters answer "may contain" to every key here: k = 0: .* \(in 1\); unknown encoding 0x1f: every key may be contained \(in 1\)\.$`, len(each)-r.Empty)), "%q", r.Advice)

	each[0] = each[0][:1] // matches nothing
	r = analyse(t, table, Options{})
	require.Equal(t, 2, r.Unmeasured)
	require.Positive(t, r.FalseNegatives)
	require.NotNil(t, advised(r, "^1 of .* to every key here: unknown"), "%q", r.Advice)

	each[1] = each[1][:1]
	r = analyse(t, table, Options{})
	require.Equal(t, 2, r.Unmeasured)
	require.Nil(t, advised(r, "to every key here"))

	table.info.Filters.Encoding = encoding.PebbleBloom
	require.Contains(t, analyse(t, table, Options{}).Advice, fmt.Sprintf(`%d of %d filters answer "may contain" to every key here: not a Pebble Bloom filter: it may contain every key (in %[1]d).`, len(each)-r.Empty-2, len(each)-r.Empty))

	table = windowTable(t, keys, 10, 65536, 16)
	for i := range table.info.Filters.Each[1][:len(table.info.Filters.Each[1])-1] {
		table.info.Filters.Each[1][i] = 0xff
	}
	r = analyse(t, table, Options{})
	require.Equal(t, 1, r.Saturated)
	require.NotNil(t, advised(r, fmt.Sprintf(`^1 of %d filters have all bits set, `, r.Filters)), "%q", r.Advice)
}

func TestAdviceOnFewBits(t *testing.T) {
	rng := seeded(t, 2)
	const words = `^(\d) bits per key are few: ([\d.]+) % of random keys pass; with 10 bits ([\d.]+) % would, for (\d+) bytes more\.$`
	keys := numbered(rng, "key%08d", 0, 10_000, 0.5).present
	for _, table := range []*fakeTable{wholeTable(t, keys, 3), windowTable(t, keys, 3, 65536, 16)} {
		r := analyse(t, table, Options{})
		match := advised(r, words)
		require.NotNil(t, match, "%q", r.Advice)
		require.Equal(t, "3", match[1])

		better := wholeTable(t, keys, 10)
		if table.info.Filters.PerWindow {
			better = windowTable(t, keys, 10, 65536, 16)
		}
		require.Equal(t, strconv.FormatInt(better.info.Filters.Bytes-table.info.Filters.Bytes, 10), match[4])
		now, err := strconv.ParseFloat(match[2], 64)
		require.NoError(t, err)
		then, err := strconv.ParseFloat(match[3], 64)
		require.NoError(t, err)
		require.InDelta(t, 100*r.Random.Rate, now, 0.1)
		require.InDelta(t, 100*analyse(t, better, Options{}).Random.Rate, then, 0.5)
	}
	require.Nil(t, advised(analyse(t, wholeTable(t, keys, 5), Options{}), "few"))
}

// Windows of few keys: no hashes are shared, more bits help, and larger windows.
func TestAdviceOnDenseKeysInSmallFilters(t *testing.T) {
	set := numbered(seeded(t, 3), "user%016d", 0, 20_000, 0.63)
	r := analyse(t, windowTable(t, set.present, 10, 4096, 11), Options{})
	match := advised(r, `^([\d.]+) % of absent keys between your keys pass, and ([\d.]+) % of random ones; with 20 bits per key, ([\d.]+) % would; with goleveldb's FilterBaseLg (\d+), ([\d.]+) % would\.$`)
	require.NotNil(t, match, "%q", r.Advice)
	rate := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		return x / 100
	}
	require.InDelta(t, r.Between.Rate, rate(match[1]), 0.001)
	require.InDelta(t, r.Random.Rate, rate(match[2]), 0.001)
	require.Less(t, rate(match[3]), rate(match[1])/2)
	wider := slices.DeleteFunc(r.Others, func(o Other) bool { return o.BaseLg == 11 })
	for i, o := range wider {
		if match[4] == strconv.Itoa(o.BaseLg) {
			require.InDelta(t, o.Between.Rate, rate(match[5]), 0.001)
			for j, other := range wider {
				require.Less(t, rate(match[5]), 1.3*other.Between.Rate, "none of the others is much better")
				if j < i {
					require.Greater(t, other.Between.Rate, rate(match[5]), "smaller windows are worse")
				}
			}
			return
		}
	}
	t.Fatalf("no such setting: %v", r.Others)
}

// Many keys in one filter: hashes are shared, and no number of bits helps.
func TestAdviceOnSharedHashes(t *testing.T) {
	set := numbered(seeded(t, 4), "%016d", 0, 200_000, 0.63)
	r := analyse(t, wholeTable(t, set.present, 10), Options{})
	match := advised(r, `^([\d.]+) % of absent keys between your keys pass, and [\d.]+ % of random ones: ([\d.]+) % because they share a 32-bit hash with a key, so more bits per key will not help; with 20 bits per key, ([\d.]+) % still would\.$`)
	require.NotNil(t, match, "%q", r.Advice)
	shared, err := strconv.ParseFloat(match[2], 64)
	require.NoError(t, err)
	require.InDelta(t, 100*float64(*r.BetweenCollisions)/float64(r.Between.Asked), shared, 0.1)
	still, err := strconv.ParseFloat(match[3], 64)
	require.NoError(t, err)
	require.InDelta(t, shared, still, 1.5, "at 20 bits little else passes")
}

func TestAdviceOnDenseKeysOnlyIfTheyAre(t *testing.T) {
	set := numbered(seeded(t, 5), "key%08d", 0, 18_000, 0.5)
	r := analyse(t, wholeTable(t, set.present, 10), Options{})
	require.Nil(t, advised(r, "absent keys"), "%q", r.Advice)
}

func TestAdviceOnOffsets(t *testing.T) {
	rng := seeded(t, 6)
	const words = `^([\d.]+) keys per filter, 4 bytes of offset per window: goleveldb's FilterBaseLg (\d+) would save (\d+) of the filter block's (\d+) bytes \(([\d.]+) %\)\.$`
	keys := numbered(rng, "key%08d", 0, 20_000, 0.5).present
	for _, blockSize := range []int{1024, 4096, 65536} {
		table := windowTable(t, keys, 10, blockSize, 11)
		r := analyse(t, table, Options{})
		match := advised(r, words)
		require.NotNil(t, match, "%q", r.Advice)
		number := func(i int) int64 {
			n, err := strconv.ParseFloat(match[i], 64)
			require.NoError(t, err)
			return int64(n)
		}
		bytes := func(baseLg int) int64 { return windowTable(t, keys, 10, blockSize, baseLg).info.Filters.Bytes }
		baseLg := int(number(2))
		require.Equal(t, table.info.Filters.Bytes, number(4))
		require.Equal(t, bytes(11)-bytes(baseLg), number(3))
		require.InDelta(t, 100*float64(number(3))/float64(number(4)), float64(number(5)), 1)
		require.GreaterOrEqual(t, 10*number(3), 9*(bytes(11)-bytes(20)), "most of what can be saved")
		require.Less(t, 10*(bytes(11)-bytes(baseLg-1)), 9*(bytes(11)-bytes(20)), "the smallest that does")
		require.InDelta(t, r.KeysPerFilter, float64(number(1)), 1)
	}
	// Little to save: large windows, few large keys in small ones, one window, no windows.
	for _, table := range []*fakeTable{
		windowTable(t, keys, 10, 65536, 16),
		windowTable(t, keys, 100, 65536, 14),
		windowTable(t, keys[:3], 10, 4096, 11),
		wholeTable(t, keys, 10),
	} {
		require.Nil(t, advised(analyse(t, table, Options{}), "offset"))
	}
}
