package analysis

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The JSON names are what other programs rely on: a change here breaks them.
func TestReportNames(t *testing.T) {
	collisions := int64(1)
	rate := Rate{1, 1, 1, 1, 1}
	r := Report{
		Entries: 1, Keys: 1, Unfiltered: 1, KeyShape: "x",
		Filters: 1, Empty: 1, Unmeasured: 1, Saturated: 1, Bytes: 1, BitsPerKey: 1, KeysPerFilter: 1, Probes: []int{1}, Fill: 1, Distinct: 1, FPP: 1,
		Cells: 1, FingerprintBits: []int{1}, Fuse: &Fuse{1, "x"},
		Between: rate, BetweenUnasked: "x", Beyond: rate, BeyondUnasked: "x", Random: rate, BetweenCollisions: &collisions,
		Others:   []Other{{"x", 1, 1, rate, rate}},
		Verified: true, Unverified: "x", Encoding: "x", Encodings: map[string]int{"x": 1}, FalseNegatives: 1, Lost: []string{"x"},
		Advice: []string{"x"},
	}
	text, err := json.Marshal(r)
	require.NoError(t, err)
	const one = `{"asked":1,"passed":1,"rate":1,"low":1,"high":1}`
	require.JSONEq(t, `{
		"entries": 1, "keys": 1, "entries_without_filter": 1, "key_shape": "x",
		"filters": 1, "empty_filters": 1, "filters_without_bits": 1, "saturated_filters": 1, "filter_bytes": 1, "bits_per_key": 1,
		"keys_per_filter": 1, "probes": [1], "fill": 1, "distinct_keys_estimated": 1, "fpp_estimated": 1,
		"cells": 1, "fingerprint_bits": [1], "binary_fuse": {"cells_per_segment": 1, "seed": "x"},
		"fpr_between": `+one+`, "fpr_between_unasked": "x", "fpr_between_collisions": 1,
		"fpr_beyond": `+one+`, "fpr_beyond_unasked": "x", "fpr_random": `+one+`,
		"other_settings": [{"encoding": "x", "bits_per_key": 1, "base_lg": 1, "fpr_between": `+one+`, "fpr_random": `+one+`}],
		"verified": true, "unverified": "x", "encoding": "x", "encodings": {"x": 1}, "false_negatives": 1, "false_negative_keys": ["x"],
		"advice": ["x"]
	}`, string(text))
}

// Filters whose bits are all set, and none at all, still make JSON: no figure is infinite.
func TestReportIsFinite(t *testing.T) {
	full := wholeTable(t, numbered(seeded(t, 1), "%04d", 0, 10, 1).present, 10)
	for i := range full.info.Filters.Each[0][:len(full.info.Filters.Each[0])-1] {
		full.info.Filters.Each[0][i] = 0xff
	}
	r := analyse(t, full, Options{})
	require.Equal(t, 1, r.Saturated)
	require.Zero(t, r.Distinct)
	require.Equal(t, 1.0, r.FPP)
	require.Equal(t, 1.0, r.Fill)
	for _, table := range []*fakeTable{full, wholeTable(t, nil, 10), exactTable()} {
		_, err := json.Marshal(analyse(t, table, Options{}))
		require.NoError(t, err)
	}
}

// The bits of several filters are those of all together; the FPP is their mean.
func TestReportAddsFiltersUp(t *testing.T) {
	rng := seeded(t, 2)
	keys := numbered(rng, "key%08d", 0, 5000, 0.5).present
	table := windowTable(t, keys, 10, 4096, 11)
	f := table.info.Filters
	var bits, set int64
	var distinct, fpp float64
	filters, empty := 0, 0
	bytes := 0
	for _, filter := range f.Each {
		if len(filter) == 0 {
			empty++
			continue
		}
		s, ok := f.Encoding.Measure(filter)
		require.True(t, ok)
		filters++
		bytes += len(filter)
		bits += s.Bits
		set += s.Set
		distinct += s.Distinct
		fpp += s.FPP
	}
	require.Positive(t, empty)
	r := analyse(t, table, Options{})
	require.Equal(t, filters, r.Filters)
	require.Equal(t, empty, r.Empty)
	require.Equal(t, f.Bytes, r.Bytes)
	require.Equal(t, []int{6}, r.Probes)
	require.InDelta(t, float64(set)/float64(bits), r.Fill, 1e-12)
	require.InDelta(t, distinct, r.Distinct, 1e-6)
	require.InDelta(t, fpp/float64(filters), r.FPP, 1e-12)
	require.InDelta(t, 8*float64(bytes)/5000, r.BitsPerKey, 1e-9)
	require.InDelta(t, 5000/float64(filters), r.KeysPerFilter, 1e-9)
	require.InDelta(t, 5000, r.Distinct, 500)
	require.False(t, math.IsNaN(r.FPP))

	other := windowTable(t, keys, 20, 4096, 11)
	copy(f.Each[len(f.Each)/2:], other.info.Filters.Each[len(f.Each)/2:])
	require.Equal(t, []int{6, 13}, analyse(t, table, Options{}).Probes)
}
