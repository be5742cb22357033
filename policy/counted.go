package policy

import (
	"sync/atomic"

	"github.com/levelbloom/levelbloom/policy/internal/builder"
)

// Counted is a Policy that counts what another one does: how often filters were checked, what they
// answered, and what was built. Get one from [Count], give it to an engine's Configure in place of
// the policy, and call [Counted.Snapshot] at any time. It builds and reads the same filters under
// the same name. Engines find the policy of a filter by its name, so to count policies apart, by
// level for example, give each a name of its own ([WithName]).
//
// Counting a check costs one atomic addition. All goroutines add to the same counters, so cores
// that do little but check filters slow each other down. Counted is safe for concurrent use if the
// other policy is.
type Counted struct {
	policy  Policy
	foreign Policy // policy, if [MayContain] does not answer for it

	absent, mayContain   atomic.Uint64
	filters, keys, bytes atomic.Uint64
	broken               atomic.Uint64
}

var _ Policy = (*Counted)(nil)

// Count returns a policy that works like p and counts. It panics if [Check] refuses p.
func Count(p Policy) *Counted {
	if err := Check(p); err != nil {
		panic(err)
	}
	c := &Counted{policy: p}
	if _, counts := p.(*Counted); counts || !isOurs(p) {
		c.foreign = p
	}
	return c
}

func (c *Counted) self() Policy { return c }
func (c *Counted) usable() bool { return c != nil && isUsable(c.policy) }

// Name returns the name of the policy that does the work.
func (c *Counted) Name() string {
	mustBeUsable(c)
	return c.policy.Name()
}

// MayContain returns the answer of the policy that does the work, and counts it.
func (c *Counted) MayContain(filter, key []byte) bool {
	var may bool
	if c.foreign != nil {
		may = c.foreign.MayContain(filter, key)
	} else {
		may = MayContain(filter, key)
	}
	if may {
		c.mayContain.Add(1)
	} else {
		c.absent.Add(1)
	}
	return may
}

// NewBuilder returns a builder whose filters are counted when they are finished.
func (c *Counted) NewBuilder() Builder { return c.newBuilder(Policy.NewBuilder) }

func (c *Counted) newBuilder(of func(Policy) Builder) Builder {
	mustBeUsable(c)
	return &countedBuilder{of(c.policy), c}
}

type countedBuilder struct {
	Builder
	counted *Counted
}

func (b *countedBuilder) Finish(dst []byte) []byte {
	keys, before := b.Len(), len(dst)
	dst = b.Builder.Finish(dst)
	b.counted.filters.Add(1)
	b.counted.keys.Add(uint64(keys))
	b.counted.bytes.Add(uint64(len(dst) - before))
	if string(dst[before:]) == builder.Replacement {
		b.counted.broken.Add(1)
	}
	return dst
}

// Counters is what a [Counted] has counted. To publish it as JSON:
//
//	expvar.Publish("filters", expvar.Func(func() any { return counted.Snapshot() }))
type Counters struct {
	ReadsAvoided uint64 `json:"reads_avoided"` // checks answered "absent": no read of the table
	MayContain   uint64 `json:"may_contain"`   // checks answered "may contain"
	Filters      uint64 `json:"filters"`       // filters built
	Keys         uint64 `json:"keys"`          // keys in them, as Builder.Len counts
	Bytes        uint64 `json:"bytes"`         // size of the filters
	Broken       uint64 `json:"broken"`        // filters that were replaced; see WithVerify
}

// Snapshot returns what was counted since Count. It may run while filters are checked and built:
// then each counter may or may not include what happens meanwhile.
func (c *Counted) Snapshot() Counters {
	return Counters{
		ReadsAvoided: c.absent.Load(),
		MayContain:   c.mayContain.Load(),
		Filters:      c.filters.Load(),
		Keys:         c.keys.Load(),
		Bytes:        c.bytes.Load(),
		Broken:       c.broken.Load(),
	}
}
