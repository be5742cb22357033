package goleveldb

import (
	"fmt"

	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/levelbloom/levelbloom/policy"
)

// New returns a goleveldb filter that builds and reads its filters with p, under the name that p
// has now. It is safe for concurrent use; its generators are not. Each generator can build any
// number of filters, one after the other. Like C++ LevelDB and goleveldb's own filter, it counts a
// key once for every time it is added.
//
// For the options of a database call [Configure], which also keeps the filters on disk in use.
//
// New panics if policy.Check refuses p. A generator panics if p builds an empty filter, because
// goleveldb would lose the keys.
func New(p policy.Policy) filter.Filter {
	f, err := newFilter(p)
	if err != nil {
		panic(err)
	}
	return f
}

func newFilter(p policy.Policy) (*policyFilter, error) {
	if err := policy.Check(p); err != nil {
		return nil, fmt.Errorf("goleveldb: %w", err)
	}
	return &policyFilter{p.Name(), p}, nil
}

// policyFilter makes a policy.Policy a filter.Filter.
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

// Generate builds the filter of the keys added and writes it to b.
func (g *generator) Generate(b filter.Buffer) {
	g.filter = g.builder.Finish(g.filter[:0])
	// goleveldb treats an empty filter as one that contains no key, and does not call Contains.
	if len(g.filter) == 0 {
		panic(
			fmt.Sprintf(
				"goleveldb: the policy %q built an empty filter: keys would be lost",
				g.name,
			),
		)
	}
	b.Write(g.filter) // never fails: goleveldb's buffer grows
}
