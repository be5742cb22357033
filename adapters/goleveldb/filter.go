package goleveldb

import (
	"fmt"

	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/levelbloom/levelbloom/policy"
)

// New returns a goleveldb filter that makes and reads its filters with p, under the name that p has now. It is safe for
// concurrent use; its generators are not, and each can make any number of filters, one after the other. Duplicate keys
// are not dropped: the size of a filter counts every key added, as in C++ LevelDB and in goleveldb's own filter.
//
// In the options of a database, [Configure] sets it together with the readers of older filters.
//
// New panics if p is nil. A generator panics if p breaks the contract of policy.Builder, because the engine would go on
// to store a filter that loses keys.
func New(p policy.Policy) filter.Filter {
	if err := policy.Check(p); err != nil {
		panic(fmt.Errorf("goleveldb: %w", err))
	}
	return &policyFilter{name: p.Name(), policy: p}
}

type policyFilter struct {
	name   string
	policy policy.Policy
}

func (f *policyFilter) Name() string { return f.name }

func (f *policyFilter) Contains(filter, key []byte) bool { return f.policy.MayContain(filter, key) }

func (f *policyFilter) NewGenerator() filter.FilterGenerator {
	return &generator{name: f.name, builder: f.policy.NewBuilder()}
}

type generator struct {
	name    string
	builder policy.Builder
	filter  []byte // memory for the next filter
}

func (g *generator) Add(key []byte) { g.builder.Add(key) }

// Generate encodes the filter and appends it to the buffer.
func (g *generator) Generate(b filter.Buffer) {
	g.filter = g.builder.Finish(g.filter[:0])
	// goleveldb takes an empty filter for "absent", whatever the key, without asking Contains.
	if len(g.filter) == 0 {
		panic(fmt.Sprintf("goleveldb: the policy %q built an empty filter: keys would be lost", g.name))
	}
	b.Write(g.filter)
}
