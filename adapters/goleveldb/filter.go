package goleveldb

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/policy"
)

// New returns p as a goleveldb filter. It is safe for concurrent use; its generators are not. Each
// generator can build any number of filters, one after the other. Like C++ LevelDB and goleveldb's
// own filter, it counts a key each time it is added.
//
// For the options of a database call [Configure], which also keeps the filters on disk in use.
//
// New panics if p is nil or the zero Policy.
func New(p *policy.Policy) filter.Filter {
	f, err := newFilter(p)
	if err != nil {
		panic(err)
	}
	return f
}

func newFilter(p *policy.Policy) (*policyFilter, error) {
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("goleveldb: %w", err)
	}
	return &policyFilter{Policy: p}, nil
}

// policyFilter makes a policy a filter.Filter.
type policyFilter struct {
	*policy.Policy

	looking sync.Mutex
	lookup  atomic.Pointer[lookup] // that Rewrite watches, or nil
}

func (f *policyFilter) Contains(filter, key []byte) bool {
	may := f.MayContain(filter, key)
	if l := f.lookup.Load(); l != nil && l.key == string(key) {
		l.asked.Store(true)
		if may {
			l.ours.Store(f.MayHaveMade(filter))
		}
	}
	return may
}

func (f *policyFilter) NewGenerator() filter.FilterGenerator {
	return &generator{Builder: f.NewBuilder()}
}

// lookup is a lookup of a key.
type lookup struct {
	key   string
	asked atomic.Bool // a filter was asked about key
	ours  atomic.Bool // the last filter that may contain key is like new ones
}

// look looks a key up. If it is in a table, that is the last one whose filter may contain it, but
// for false positives.
func (f *policyFilter) look(s reader, key []byte) (*lookup, error) {
	f.looking.Lock()
	defer f.looking.Unlock()
	l := &lookup{key: string(key)}
	f.lookup.Store(l)
	defer f.lookup.Store(nil)
	_, err := s.Has(key, uncached)
	return l, err
}

type reader interface {
	Has(key []byte, ro *opt.ReadOptions) (bool, error)
}

var uncached = &opt.ReadOptions{DontFillCache: true}

type generator struct {
	policy.Builder
	filter []byte // memory for the next filter
}

// Generate builds the filter of the keys added and writes it to b.
func (g *generator) Generate(b filter.Buffer) {
	g.filter = g.Finish(g.filter[:0])
	b.Write(g.filter) // never fails: goleveldb's buffer grows
}
