package prometheus_test

import (
	"strings"
	"testing"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/prometheus"
	"github.com/levelbloom/levelbloom/policy"
)

func TestCollector(t *testing.T) {
	bloom, err := policy.NewBloom(10)
	require.NoError(t, err)
	state, blocks := policy.Count(bloom), policy.Count(bloom)
	builder := state.NewBuilder()
	builder.Add([]byte("hello"))
	filter := builder.Finish(nil)
	for range 3 {
		require.True(t, state.MayContain(filter, []byte("hello")))
	}
	require.False(t, blocks.MayContain(filter, []byte("foo")))

	registry := client.NewPedanticRegistry()
	require.NoError(t, registry.Register(prometheus.NewCollector(map[string]*policy.Counted{"state": state, "blocks": blocks})))
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP levelbloom_checks_total Filters asked.
# TYPE levelbloom_checks_total counter
levelbloom_checks_total{answer="absent",filter="blocks"} 1
levelbloom_checks_total{answer="absent",filter="state"} 0
levelbloom_checks_total{answer="may_contain",filter="blocks"} 0
levelbloom_checks_total{answer="may_contain",filter="state"} 3
# HELP levelbloom_filter_bytes_total Size of the filters built.
# TYPE levelbloom_filter_bytes_total counter
levelbloom_filter_bytes_total{filter="blocks"} 0
levelbloom_filter_bytes_total{filter="state"} 9
# HELP levelbloom_filter_keys_total Keys in the filters built.
# TYPE levelbloom_filter_keys_total counter
levelbloom_filter_keys_total{filter="blocks"} 0
levelbloom_filter_keys_total{filter="state"} 1
# HELP levelbloom_filters_built_total Filters built.
# TYPE levelbloom_filters_built_total counter
levelbloom_filters_built_total{filter="blocks"} 0
levelbloom_filters_built_total{filter="state"} 1
`)))
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	require.Empty(t, problems)
}

func TestNilPolicyIsRefused(t *testing.T) {
	require.PanicsWithValue(t, `prometheus: NewCollector of a nil policy for "state": pass what policy.Count returned`, func() {
		prometheus.NewCollector(map[string]*policy.Counted{"state": nil})
	})
}
