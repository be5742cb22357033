package goleveldb

import (
	"fmt"
	"reflect"

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
	if isNil(p) {
		panic("goleveldb: New of a nil policy: pass one, such as policy.NewBloom(10) returns without an error")
	}
	return &policyFilter{name: p.Name(), policy: p}
}

// isNil also recognises a nil *policy.Bloom, which is what NewBloom returns beside an error.
func isNil(p policy.Policy) bool {
	v := reflect.ValueOf(p)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
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
}

func (g *generator) Add(key []byte) { g.builder.Add(key) }

// Generate encodes the filter in the buffer's own memory. Alloc does not clear it, and Finish does not mind.
func (g *generator) Generate(b filter.Buffer) {
	n := g.builder.Size()
	dst := b.Alloc(n)
	got := g.builder.Finish(dst[:0:n])
	// goleveldb takes an empty filter for "absent", whatever the key, without asking Contains.
	if len(got) != n || n == 0 {
		panic(fmt.Sprintf("goleveldb: the policy %q made a filter of %d bytes and had announced %d: "+
			"they must be equal and above 0, or keys would be lost", g.name, len(got), n))
	}
	copy(dst, got) // changes something only if the builder returned memory of its own
}
