package policy

import "github.com/levelbloom/levelbloom/policy/internal/builder"

// WithCounters makes a policy count how often its filters are checked, what they answer, and what
// its builders build: see [Policy.Counters]. Engines find the policy of a filter by its name, so to
// count policies apart, by level for example, give each a name of its own ([WithName]).
//
// Counting a check costs one atomic addition. All goroutines add to the same counters, so many
// cores that only check filters contend for them.
func WithCounters() Option {
	return Option{func(p *Policy) error {
		p.setting.Counters = new(builder.Counters)
		return nil
	}}
}

// Counters is what a policy has counted.
type Counters struct {
	// Absent counts the checks answered "absent". Each saves the engine a look into a table's
	// data, which is a read if the data is not cached.
	Absent     uint64 `json:"absent"`
	MayContain uint64 `json:"may_contain"` // checks answered "may contain"
	Filters    uint64 `json:"filters"`     // filters built
	Keys       uint64 `json:"keys"`        // keys in them, as Builder.Len counts
	Bytes      uint64 `json:"bytes"`       // size of the filters
	// Replaced counts the filters that exclude nothing, because a ribbon filter has no room for
	// so many keys.
	Replaced uint64 `json:"replaced"`
}

// Counters returns what p has counted, or zeros if p was made without [WithCounters]. To publish
// the counters as JSON:
//
//	expvar.Publish("filters", expvar.Func(func() any { return p.Counters() }))
//
// For Prometheus, give prometheus.NewCounterFunc a function that returns one of them, as
// Example_prometheus of package pebblev2 does.
//
// Counters may be called while filters are checked and built: then each counter may or may not
// include what happens meanwhile.
func (p *Policy) Counters() Counters {
	c := p.setting.Counters
	if c == nil {
		return Counters{}
	}
	return Counters{
		Absent:     c.Absent.Load(),
		MayContain: c.MayContain.Load(),
		Filters:    c.Filters.Load(),
		Keys:       c.Keys.Load(),
		Bytes:      c.Bytes.Load(),
		Replaced:   c.Replaced.Load(),
	}
}
