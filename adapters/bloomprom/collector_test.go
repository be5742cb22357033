package bloomprom_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/bloomprom"
	"github.com/levelbloom/levelbloom/policy"
)

func TestCollector(t *testing.T) {
	bloom, err := policy.NewBloom(10)
	require.NoError(t, err)
	state, blocks := policy.Count(bloom), policy.Count(bloom)
	other := policy.Count(broken{bloom})
	other.NewBuilder().Finish(nil)
	builder := state.NewBuilder()
	builder.Add([]byte("hello"))
	filter := builder.Finish(nil)
	for range 3 {
		require.True(t, state.MayContain(filter, []byte("hello")))
	}
	require.False(t, blocks.MayContain(filter, []byte("foo")))

	registry := prometheus.NewPedanticRegistry()
	counted := map[string]*policy.Counted{"state": state, "blocks": blocks, "other": other}
	require.NoError(t, registry.Register(bloomprom.NewCollector(counted)))
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP levelbloom_checks_total Checks of filters.
# TYPE levelbloom_checks_total counter
levelbloom_checks_total{answer="absent",filter="blocks"} 1
levelbloom_checks_total{answer="absent",filter="other"} 0
levelbloom_checks_total{answer="absent",filter="state"} 0
levelbloom_checks_total{answer="may_contain",filter="blocks"} 0
levelbloom_checks_total{answer="may_contain",filter="other"} 0
levelbloom_checks_total{answer="may_contain",filter="state"} 3
# HELP levelbloom_filter_bytes_total Size of the filters built.
# TYPE levelbloom_filter_bytes_total counter
levelbloom_filter_bytes_total{filter="blocks"} 0
levelbloom_filter_bytes_total{filter="other"} 2
levelbloom_filter_bytes_total{filter="state"} 9
# HELP levelbloom_filter_keys_total Keys in the filters built.
# TYPE levelbloom_filter_keys_total counter
levelbloom_filter_keys_total{filter="blocks"} 0
levelbloom_filter_keys_total{filter="other"} 0
levelbloom_filter_keys_total{filter="state"} 1
# HELP levelbloom_filters_broken_total Filters that WithVerify replaced.
# TYPE levelbloom_filters_broken_total counter
levelbloom_filters_broken_total{filter="blocks"} 0
levelbloom_filters_broken_total{filter="other"} 1
levelbloom_filters_broken_total{filter="state"} 0
# HELP levelbloom_filters_built_total Filters built.
# TYPE levelbloom_filters_built_total counter
levelbloom_filters_built_total{filter="blocks"} 0
levelbloom_filters_built_total{filter="other"} 1
levelbloom_filters_built_total{filter="state"} 1
`)))
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	require.Empty(t, problems)
}

// broken builds what policy.WithVerify builds instead of a broken filter.
type broken struct{ policy.Policy }

func (b broken) NewBuilder() policy.Builder { return brokenBuilder{b.Policy.NewBuilder()} }

type brokenBuilder struct{ policy.Builder }

func (brokenBuilder) Finish(dst []byte) []byte { return append(dst, 0xff, 0xff) }

// What would fail at every scrape is refused at once.
func TestMisuseIsRefused(t *testing.T) {
	p, err := policy.NewBloom(10)
	require.NoError(t, err)
	counted := policy.Count(p)
	for _, c := range []struct {
		label   string
		counted *policy.Counted
		message string
	}{
		{"state", nil, `bloomprom: "state": policy: the policy is nil or its zero value: `},
		{"state", &policy.Counted{},
			`bloomprom: "state": policy: the policy is nil or its zero value: `},
		{"\xff", counted, `bloomprom: the key "\xff" is not valid UTF-8: pass another`},
	} {
		func() {
			defer func() { require.Contains(t, fmt.Sprint(recover()), c.message) }()
			bloomprom.NewCollector(map[string]*policy.Counted{c.label: c.counted})
		}()
	}
}
