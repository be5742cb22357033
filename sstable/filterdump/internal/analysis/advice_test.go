package analysis

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// advised returns the sentence of the advice that matches, and its parenthesized parts; nil if
// there is none.
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

// A sound table gets no advice; one with all bits set is told so.
func TestAdviceOnSaturatedFilters(t *testing.T) {
	keys := numbered(seeded(t, 1), "key%08d", 0, 6000, 0.5).present
	table := windowTable(t, keys, 10, 65536, 16)
	require.Empty(t, analyze(t, table, Options{}).Advice)
	filter := table.info.Filters.Each[1]
	for i := range filter[:len(filter)-1] {
		filter[i] = 0xff
	}
	r := analyze(t, table, Options{})
	require.Equal(t, 1, r.Saturated)
	require.NotNil(t, advised(r, fmt.Sprintf(`^1 of %d filters have all bits set`, r.Filters)))
}

func TestAdviceOnFewBits(t *testing.T) {
	const words = `^(3[\d.]*) bits per key are few: the FPR of random keys is ([\d.]+) %; with ` +
		`10 bits it would be about ([\d.]+) %(?:, with policy\.NewRibbon and as few bits ` +
		`([\d.]+) % \(only levelbloom reads them.*\))?\.$`
	keys := numbered(seeded(t, 2), "key%08d", 0, 10_000, 0.5).present
	for _, table := range []*fakeTable{
		wholeTable(t, keys, 3), windowTable(t, keys, 3, 65536, 16),
		windowTableOf(mustRibbon(t, 3), keys, 65536, 16),
	} {
		r := analyze(t, table, Options{})
		match := advised(r, words)
		require.NotNil(t, match, "%q", r.Advice)
		require.InDelta(t, r.Random.Rate, rateOf(t, match[2]), 0.001)
		better := wholeTable(t, keys, 10)
		require.InDelta(t, analyze(t, better, Options{}).Random.Rate, rateOf(t, match[3]), 0.004)
		if r.Encodings["ribbon"] > 0 {
			require.Empty(t, match[4])
			continue
		}
		smaller := windowTableOf(mustRibbon(t, r.BitsPerKey), keys, 65536, 16)
		require.InDelta(t, analyze(t, smaller, Options{}).Random.Rate, rateOf(t, match[4]), 0.015)
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
}

func TestAdviceOnDenseKeysOnlyIfTheyAre(t *testing.T) {
	set := numbered(seeded(t, 5), "key%08d", 0, 18_000, 0.5)
	r := analyze(t, wholeTable(t, set.present, 10), Options{})
	require.Nil(t, advised(r, "between your keys"), "%q", r.Advice)
}

// Dense keys have many false positives in LevelDB's encoding. The prediction for ribbon filters is
// what these do.
func TestAdviceOnDenseKeys(t *testing.T) {
	const words = `^The FPR is ([\d.]+) % between your keys and ([\d.]+) % for random ones, ` +
		`because LevelDB's hash .* With 10[\d.]* bits per key it would be about ([\d.]+) % with ` +
		`policy\.NewRibbon ` +
		`\(only levelbloom reads them(; C\+\+ LevelDB and .*)?\)\.$`
	set := numbered(seeded(t, 6), "%016d", 0, 200_000, 0.63)
	for _, table := range []*fakeTable{
		windowTable(t, set.present[:20_000], 10, 4096, 11),
		wholeTable(t, set.present, 10),
	} {
		r := analyze(t, table, Options{})
		match := advised(r, words)
		require.NotNil(t, match, "%q", r.Advice)
		require.InDelta(t, r.Between.Rate, rateOf(t, match[1]), 0.001)
		require.InDelta(t, r.Random.Rate, rateOf(t, match[2]), 0.001)
		require.Equal(t, table.info.Format == "LevelDB", match[4] != "") // who opens the table
		keys := table.keys()
		ribbon := mustRibbon(t, 10)
		other := wholeTableOf(ribbon.AppendFilter(nil, keys), keys)
		if table.info.Filters.PerWindow {
			other = windowTableOf(ribbon, keys, 4096, 11)
		}
		rate := analyze(t, other, Options{}).Between.Rate
		require.InDelta(t, rate, rateOf(t, match[3]), 0.4*rate)
	}
	// Not where LevelDB's encoding keeps its rate, and not where the filters are ribbon.
	ribbon := windowTableOf(mustRibbon(t, 10), set.present[:20_000], 4096, 11)
	for _, table := range []*fakeTable{wholeTable(t, set.present[:18_000], 10), ribbon} {
		require.Nil(t, advised(analyze(t, table, Options{}), "NewRibbon"))
	}
	r := analyze(t, ribbon, Options{})
	require.NotNil(t, advised(r,
		fmt.Sprintf(`^%d filters of %[1]d \(ribbon\): only levelbloom reads them`, r.Filters)))
	// Other engines do not read Pebble's tables.
	whole := wholeTableOf(mustRibbon(t, 10).AppendFilter(nil, set.present), set.present)
	require.Nil(t, advised(analyze(t, whole, Options{}), "only levelbloom reads"))
}

// Every kind is what its policy builds, and its predicted FPP is that of its filters.
func TestKinds(t *testing.T) {
	for _, k := range []kind{exactKind, ribbonKind} {
		p, err := k.new(10)
		require.NoError(t, err)
		builder := p.NewBuilder()
		for i := range 10 {
			builder.Add([]byte{byte(i)})
		}
		info, err := policy.Parse(builder.Finish(nil))
		require.NoError(t, err)
		require.Equal(t, k.encoding, info.Encoding)
		want := map[bool]float64{false: 0.009, true: 0.00104}[k.encoding == policy.EncodingRibbon]
		require.InDelta(t, want, k.fpp(10, 18_000), want/3)
		require.Equal(t, 1.0, k.fpp(0, 100))
	}
}
