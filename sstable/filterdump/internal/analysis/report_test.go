package analysis

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// Filters whose bits are all set, and none at all, still make JSON: no figure is infinite.
func TestReportIsFinite(t *testing.T) {
	full := wholeTable(numbered(seeded(t, 1), "%04d", 0, 10, 1), 10)
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
	keys := numbered(seeded(t, 2), "key%08d", 0, 5000, 0.5)
	table := windowTable(keys, 10)
	each := table.info.Each
	copy(each[len(each)/2:], windowTable(keys, 20).info.Each[len(each)/2:])
	var bits, set, fpp, filters float64
	for _, filter := range each {
		if len(filter) > 0 {
			_, info, err := table.info.Reader.Parse(filter)
			require.NoError(t, err)
			filters++
			bits += float64(8 * len(info.Payload))
			set += float64(info.Ones())
			fpp += info.FPP()
		}
	}
	r := analyze(t, table, false)
	require.EqualValues(t, filters, r.WithKeys)
	require.Equal(t, len(each), r.WithKeys+r.Empty)
	require.Positive(t, r.Empty)
	require.Equal(t, []int{6, 13}, r.Probes)
	require.InDelta(t, set/bits, r.Fill, 1e-12)
	require.InDelta(t, fpp/filters, *r.FPP, 1e-12)
	require.InDelta(t, (bits+8*filters)/5000, r.BitsPerKey, 1e-9)
	require.InDelta(t, 5000/filters, r.KeysPerFilter, 1e-9)
}
