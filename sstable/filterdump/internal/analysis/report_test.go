package analysis

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Filters whose bits are all set, and none at all, still make JSON: no figure is infinite.
func TestReportIsFinite(t *testing.T) {
	full := wholeTable(numbered(seeded(t, 1), "%04d", 0, 10, 1).present, 10)
	for i := range full.info.Each[0][:len(full.info.Each[0])-1] {
		full.info.Each[0][i] = 0xff
	}
	r := analyze(t, full, false)
	require.Equal(t, 1.0, *r.FPP)
	require.Equal(t, 1.0, r.Fill)
	for _, table := range []*fakeTable{full, wholeTable(nil, 10), exactTable()} {
		_, err := json.Marshal(analyze(t, table, false))
		require.NoError(t, err)
	}
}

// The bits of several filters are those of all together; the FPP is their mean.
func TestReportAddsFiltersUp(t *testing.T) {
	rng := seeded(t, 2)
	keys := numbered(rng, "key%08d", 0, 5000, 0.5).present
	table := windowTable(keys, 10)
	f := table.info.Filters
	var bits, set int64
	var fpp float64
	filters, empty := 0, 0
	bytes := 0
	for _, filter := range f.Each {
		if len(filter) == 0 {
			empty++
			continue
		}
		_, info, err := f.Reader.Parse(filter)
		require.NoError(t, err)
		filters++
		bytes += len(filter)
		bits += int64(8 * len(info.Payload))
		set += int64(info.Ones())
		fpp += info.FPP()
	}
	require.Positive(t, empty)
	r := analyze(t, table, false)
	require.Equal(t, filters, r.WithKeys)
	require.Equal(t, empty, r.Empty)
	require.Equal(t, f.Bytes, table.info.Bytes)
	require.Equal(t, []int{6}, r.Probes)
	require.InDelta(t, float64(set)/float64(bits), r.Fill, 1e-12)
	require.InDelta(t, fpp/float64(filters), *r.FPP, 1e-12)
	require.InDelta(t, 8*float64(bytes)/5000, r.BitsPerKey, 1e-9)
	require.InDelta(t, 5000/float64(filters), r.KeysPerFilter, 1e-9)
	require.False(t, math.IsNaN(*r.FPP))

	other := windowTable(keys, 20)
	copy(f.Each[len(f.Each)/2:], other.info.Each[len(f.Each)/2:])
	require.Equal(t, []int{6, 13}, analyze(t, table, false).Probes)
}
