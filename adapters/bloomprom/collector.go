// Package bloomprom exports the counters of counted policies to Prometheus.
//
// The metrics are counters. The label "filter" is the policy's key in the map:
//
//	levelbloom_checks_total{filter, answer}   checks: "absent" (a read avoided) or "may_contain"
//	levelbloom_filters_built_total{filter}    filters built
//	levelbloom_filter_keys_total{filter}      keys in them
//	levelbloom_filter_bytes_total{filter}     their size
//	levelbloom_filters_broken_total{filter}   filters that policy.WithVerify found broken
package bloomprom

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/levelbloom/levelbloom/policy"
)

var (
	checks  = desc("checks_total", "Checks of filters.", "filter", "answer")
	filters = desc("filters_built_total", "Filters built.", "filter")
	keys    = desc("filter_keys_total", "Keys in the filters built.", "filter")
	bytes   = desc("filter_bytes_total", "Size of the filters built.", "filter")
	broken  = desc("filters_broken_total", "Filters that WithVerify replaced.", "filter")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("levelbloom_"+name, help, labels, nil)
}

type collector struct {
	labels   []string // sorted
	policies map[string]*policy.Counted
}

// NewCollector returns a collector of the counters of all policies. The map's keys become the
// values of the label "filter". It is safe for concurrent use.
//
// To register several collectors in one registry, give each a constant label of its own:
//
//	labels := prometheus.Labels{"db": "state"}
//	registerer := prometheus.WrapRegistererWith(labels, prometheus.DefaultRegisterer)
//	registerer.MustRegister(bloomprom.NewCollector(policies))
//
// NewCollector panics if policy.Check refuses a policy or a key is not valid UTF-8, which
// Prometheus requires.
func NewCollector(policies map[string]*policy.Counted) prometheus.Collector {
	for label, c := range policies {
		if err := policy.Check(c); err != nil {
			panic(fmt.Errorf("bloomprom: %q: %w", label, err))
		}
		if !utf8.ValidString(label) {
			panic(fmt.Sprintf("bloomprom: the key %q is not valid UTF-8: pass another", label))
		}
	}
	return &collector{slices.Sorted(maps.Keys(policies)), maps.Clone(policies)}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{checks, filters, keys, bytes, broken} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	for _, label := range c.labels {
		s := c.policies[label].Snapshot()
		counter := func(desc *prometheus.Desc, n uint64, labels ...string) {
			value := float64(n)
			ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, value, labels...)
		}
		counter(checks, s.ReadsAvoided, label, "absent")
		counter(checks, s.MayContain, label, "may_contain")
		counter(filters, s.Filters, label)
		counter(keys, s.Keys, label)
		counter(bytes, s.Bytes, label)
		counter(broken, s.Broken, label)
	}
}
