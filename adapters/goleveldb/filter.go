package goleveldb

import (
	"fmt"

	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/levelbloom/levelbloom/policy"
)

// New returns p as a goleveldb filter. It is safe for concurrent use; its generators are not. Each
// generator can build any number of filters, one after the other. Like C++ LevelDB and goleveldb's
// own filter, it counts a key each time it is added.
//
// For the options of a database call [Configure], which also keeps the filters on disk in use.
//
// New panics if p is nil or no constructor returned it.
func New(p *policy.Policy) filter.Filter {
	f, err := newFilter(p)
	if err != nil {
		panic(err)
	}
	return f
}

func newFilter(p *policy.Policy) (policyFilter, error) {
	if err := p.Check(); err != nil {
		return policyFilter{}, fmt.Errorf("goleveldb: %w", err)
	}
	return policyFilter{p}, nil
}

// policyFilter makes a policy a filter.Filter.
type policyFilter struct{ *policy.Policy }

func (f policyFilter) Contains(filter, key []byte) bool { return f.MayContain(filter, key) }

func (f policyFilter) NewGenerator() filter.FilterGenerator {
	return &generator{Builder: f.NewBuilder()}
}

type generator struct {
	policy.Builder
	filter []byte // memory for the next filter
}

// Generate builds the filter of the keys added and writes it to b.
func (g *generator) Generate(b filter.Buffer) {
	g.filter = g.Finish(g.filter[:0])
	b.Write(g.filter) // never fails: goleveldb's buffer grows
}
