package analysis

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A table without keys, filters or both still makes JSON: no figure is infinite.
func TestReportIsFinite(t *testing.T) {
	for _, table := range []*fakeTable{wholeTable(nil, 10), exactTable()} {
		_, err := json.Marshal(analyze(t, table))
		require.NoError(t, err)
	}
}

// The bits of several filters are those of all together.
func TestReportAddsFiltersUp(t *testing.T) {
	keys := numbered(seeded(t, 2), "key%08d", 0, 5000, 0.5)
	table := windowTable(keys, 10)
	each := table.info.Each
	copy(each[len(each)/2:], windowTable(keys, 20).info.Each[len(each)/2:])
	var bits, filters float64
	for _, filter := range each {
		if len(filter) > 0 {
			filters++
			bits += float64(8 * len(filter))
		}
	}
	r := analyze(t, table)
	require.EqualValues(t, filters, r.WithKeys)
	require.Equal(t, len(each), r.WithKeys+r.Empty)
	require.Positive(t, r.Empty)
	require.InDelta(t, bits/5000, r.BitsPerKey, 1e-9)
	require.InDelta(t, 5000/filters, r.KeysPerFilter, 1e-9)
}
