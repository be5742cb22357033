// Package prometheus exports what counted policies count to Prometheus.
//
//	counted := policy.Count(bloom)
//	... Configure an engine with counted ...
//	registry.MustRegister(prometheus.NewCollector(map[string]*policy.Counted{"chaindata": counted}))
//
// The metrics are counters, and the label "filter" tells the policies apart:
//
//	levelbloom_checks_total{filter, answer}   filters asked; answer is "absent" (a table read avoided) or "may_contain"
//	levelbloom_filters_built_total{filter}    filters built
//	levelbloom_filter_keys_total{filter}      keys in them
//	levelbloom_filter_bytes_total{filter}     their size
//
// The client library is the one that Pebble itself uses.
package prometheus

import (
	"fmt"
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/levelbloom/levelbloom/policy"
)

var (
	checks  = prometheus.NewDesc("levelbloom_checks_total", "Filters asked.", []string{"filter", "answer"}, nil)
	filters = prometheus.NewDesc("levelbloom_filters_built_total", "Filters built.", []string{"filter"}, nil)
	keys    = prometheus.NewDesc("levelbloom_filter_keys_total", "Keys in the filters built.", []string{"filter"}, nil)
	bytes   = prometheus.NewDesc("levelbloom_filter_bytes_total", "Size of the filters built.", []string{"filter"}, nil)
)

type collector struct {
	labels   []string // sorted
	policies map[string]*policy.Counted
}

// NewCollector returns a collector of the counters of all policies; the map's keys become the values of the label
// "filter". A registry takes one such collector. It is safe for concurrent use. NewCollector panics if a policy is nil.
func NewCollector(policies map[string]*policy.Counted) prometheus.Collector {
	for label, c := range policies {
		if c == nil {
			panic(fmt.Sprintf("prometheus: NewCollector of a nil policy for %q: pass what policy.Count returned", label))
		}
	}
	return &collector{slices.Sorted(maps.Keys(policies)), maps.Clone(policies)}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{checks, filters, keys, bytes} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	for _, label := range c.labels {
		s := c.policies[label].Snapshot()
		counter := func(desc *prometheus.Desc, n uint64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), labels...)
		}
		counter(checks, s.ReadsAvoided, label, "absent")
		counter(checks, s.MayContain, label, "may_contain")
		counter(filters, s.Filters, label)
		counter(keys, s.Keys, label)
		counter(bytes, s.Bytes, label)
	}
}
