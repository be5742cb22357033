package policy

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Counted is a Policy that counts what another one does: how often filters were asked, what they answered, and what was
// built. Give it to an engine's Configure in place of the policy, and look at [Counted.Snapshot] at any time. It makes and
// reads the same filters under the same name. Engines ask the policy that has a filter's name, so policies that are to
// be counted apart, by level for example, need names of their own ([WithName]).
//
// A check costs one atomic addition more. Checks that run side by side count in different places, so that they do not
// wait for each other. Counted is safe for concurrent use if the other policy is.
type Counted struct {
	policy  Policy
	ours    bool // policy is one of this package's
	answers [1 << shardBits]answerShard
	filters atomic.Uint64
	keys    atomic.Uint64
	bytes   atomic.Uint64
}

var (
	_ Policy      = (*Counted)(nil)
	_ BatchReader = (*Counted)(nil)
)

// Counters is what a Counted has counted up to some moment, or between two ([Counters.Sub]).
type Counters struct {
	ReadsAvoided uint64 `json:"reads_avoided"` // checks answered "absent": the engine did not read the table
	MayContain   uint64 `json:"may_contain"`   // checks answered "may contain", false positives among them
	Filters      uint64 `json:"filters"`       // filters built
	Keys         uint64 `json:"keys"`          // keys in them, as Builder.Len counts
	Bytes        uint64 `json:"bytes"`         // their size
}

// answerShard counts the answers of some goroutines. Its size keeps two shards out of one pair of cache lines, which
// processors like to fetch together.
type answerShard struct {
	absent, mayContain atomic.Uint64
	_                  [112]byte
}

const shardBits = 6

// Count returns a policy that works like p and counts. It panics if [Check] refuses p.
func Count(p Policy) *Counted {
	if err := Check(p); err != nil {
		panic(err)
	}
	_, ours := unwrap(p)
	return &Counted{policy: p, ours: ours}
}

// Unwrap returns the policy that does the work.
func (c *Counted) Unwrap() Policy { return c.policy }

// Name returns the name of the policy that does the work.
func (c *Counted) Name() string { return c.policy.Name() }

// MayContain asks the policy that does the work, and counts its answer.
func (c *Counted) MayContain(filter, key []byte) bool {
	var may bool
	if c.ours { // then the answer is this package's, and the direct call saves a part of what counting costs
		may = MayContain(filter, key)
	} else {
		may = c.policy.MayContain(filter, key)
	}
	shard := c.shard()
	if may {
		shard.mayContain.Add(1)
	} else {
		shard.absent.Add(1)
	}
	return may
}

// MayContainMany asks the policy that does the work, and counts its answers. It asks key by key if that is no policy of this
// package: one that embeds such a policy has its MayContainMany, which may answer differently from its MayContain.
func (c *Counted) MayContainMany(filter []byte, keys [][]byte, out []bool) {
	requireRoom(keys, out)
	if c.ours {
		MayContainMany(filter, keys, out)
	} else {
		for i, key := range keys {
			out[i] = c.policy.MayContain(filter, key)
		}
	}
	may := uint64(0)
	for _, o := range out[:len(keys)] {
		if o {
			may++
		}
	}
	shard := c.shard()
	shard.mayContain.Add(may)
	shard.absent.Add(uint64(len(keys)) - may)
}

// shard returns the shard of this goroutine. Each goroutine has its stack, at least 2 KiB large, for itself, so the stack's
// address tells goroutines apart, at the price of a multiplication. It may change when a stack grows: any shard is right,
// only some are faster.
func (c *Counted) shard() *answerShard {
	const golden = 0x9e3779b97f4a7c15 // 2^64 / golden ratio: spreads the addresses (Knuth, TAOCP 3, 6.4)
	var onStack byte
	page := uint64(uintptr(unsafe.Pointer(&onStack))) >> 11
	return &c.answers[page*golden>>(64-shardBits)]
}

// NewBuilder returns a builder whose filters are counted when they are finished.
func (c *Counted) NewBuilder() Builder { return &countedBuilder{c.policy.NewBuilder(), c} }

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
	return dst
}

// Snapshot returns what has been counted since Count. It may run while filters are asked and built; what happens in that
// moment is in it or not, each counter by itself.
func (c *Counted) Snapshot() Counters {
	s := Counters{Filters: c.filters.Load(), Keys: c.keys.Load(), Bytes: c.bytes.Load()}
	for i := range c.answers {
		s.ReadsAvoided += c.answers[i].absent.Load()
		s.MayContain += c.answers[i].mayContain.Load()
	}
	return s
}

// String returns the snapshot as a JSON object, which makes a Counted an expvar.Var:
//
//	expvar.Publish("filters", counted)
func (c *Counted) String() string {
	s := c.Snapshot()
	text, err := json.Marshal(struct {
		Name   string `json:"name"`
		Checks uint64 `json:"checks"`
		Counters
	}{c.Name(), s.Checks(), s})
	if err != nil {
		panic(fmt.Sprintf("policy: a string and numbers do not encode: %v", err))
	}
	return string(text)
}

// Checks returns how often filters were asked.
func (c Counters) Checks() uint64 { return c.ReadsAvoided + c.MayContain }

// Sub returns what was counted since an earlier snapshot of the same policy.
func (c Counters) Sub(earlier Counters) Counters {
	return Counters{
		ReadsAvoided: c.ReadsAvoided - earlier.ReadsAvoided,
		MayContain:   c.MayContain - earlier.MayContain,
		Filters:      c.Filters - earlier.Filters,
		Keys:         c.Keys - earlier.Keys,
		Bytes:        c.Bytes - earlier.Bytes,
	}
}
