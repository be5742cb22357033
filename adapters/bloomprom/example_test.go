package bloomprom_test

import (
	"fmt"
	"log"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/levelbloom/levelbloom/adapters/bloomprom"
	"github.com/levelbloom/levelbloom/policy"
)

func ExampleNewCollector() {
	p, err := policy.NewBloom(10)
	if err != nil {
		log.Fatal(err)
	}
	counted := policy.Count(p) // configure the engine with it instead of p
	registry := prometheus.NewRegistry()
	registry.MustRegister(bloomprom.NewCollector(map[string]*policy.Counted{"chaindata": counted}))

	b := counted.NewBuilder()
	b.Add([]byte("key"))
	b.Finish(nil)
	families, err := registry.Gather() // as Prometheus does when it scrapes
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range families {
		fmt.Println(f.GetName(), f.GetMetric()[0].GetCounter().GetValue())
	}
	// Output:
	// levelbloom_checks_total 0
	// levelbloom_filter_bytes_total 9
	// levelbloom_filter_keys_total 1
	// levelbloom_filters_broken_total 0
	// levelbloom_filters_built_total 1
}
