package goleveldb

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"

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

func newFilter(p *policy.Policy) (*policyFilter, error) {
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("goleveldb: %w", err)
	}
	uncounted, err := policy.FromString(p.String())
	if err != nil {
		return nil, err
	}
	f := &policyFilter{Policy: p}
	many, _ := policy.Parse(uncounted.AppendFilter(nil, make([][]byte, 1000)))
	f.encoding, f.least, f.most = many.Encoding, many.K, many.K
	for n := range 100 {
		filter := uncounted.AppendFilter(nil, make([][]byte, n+1))
		if few, _ := policy.Parse(filter); !f.isSmallest(filter) {
			f.most = max(f.most, few.K)
		}
	}
	return f, nil
}

// policyFilter makes a policy a filter.Filter.
type policyFilter struct {
	*policy.Policy
	encoding    string
	least, most int // probes or columns: ribbon filters of few keys have more columns

	looking sync.Mutex
	lookup  atomic.Pointer[lookup] // that Rewrite watches, or nil
}

func (f *policyFilter) Contains(filter, key []byte) bool {
	may := f.MayContain(filter, key)
	if l := f.lookup.Load(); l != nil && may && bytes.Equal(l.key, key) {
		l.ours.Store(f.isLike(filter))
	}
	return may
}

func (f *policyFilter) NewGenerator() filter.FilterGenerator {
	return &generator{Builder: f.NewBuilder()}
}

// lookup is a lookup of a key.
type lookup struct {
	key  []byte
	ours atomic.Bool // the last filter that may contain key is like new ones
}

// isLike reports whether a filter has f's encoding and number of probes or columns.
func (f *policyFilter) isLike(filter []byte) bool {
	got, err := policy.Parse(filter)
	return err == nil && got.Encoding == f.encoding &&
		(f.least <= got.K && got.K <= f.most || f.isSmallest(filter))
}

// isSmallest reports whether a ribbon filter is as small as that of one key. Its columns say nothing
// of f's bits per key: it has 8 slots, or 8 bytes, even if its keys need less.
func (f *policyFilter) isSmallest(filter []byte) bool {
	return f.encoding == policy.EncodingRibbon && uint64(len(filter)) == f.FilterSize(1)
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
