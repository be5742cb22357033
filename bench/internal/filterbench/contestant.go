package filterbench

import (
	"bytes"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/levelbloom/levelbloom/policy"
)

// A Contestant is an implementation of filters, called as its engine calls it. It is not safe for
// concurrent use.
type Contestant interface {
	Name() string
	// Encoding is the same for contestants that build the same bytes from the same keys.
	Encoding() string

	// SetQueries says what Lookup and Answers ask.
	SetQueries(*Queries) error
	// Lookup asks all queries twice, the first time untimed. It returns the time of the second pass
	// and how many answers were "may contain". The timed pass has the number pass, the untimed one
	// the next number; the number chooses among copies of the filters.
	Lookup(pass int) (time.Duration, int, error)
	// Answers returns the answer to each query.
	Answers() ([]bool, error)

	// SetKeys says of which keys Build and BuildFilters build filters.
	SetKeys(keys [][]byte) error
	// Build builds a filter of every `each` keys and returns the time. If each is less than `large`
	// it builds them once more before, untimed.
	Build(each int) (time.Duration, error)
	// BuildFilters returns the filters.
	BuildFilters(each int) ([][]byte, error)

	Close() error
}

// inProcess is a contestant that is written in Go. The functions that return one are not inlined:
// the compiler could see which policy it is, and call it in another way than an engine, which
// cannot. Each has a loop of its own, so that nothing is between the loop and the interface.
type inProcess struct {
	name, encoding string
	// lookup asks filter i for key i, for all of them, and returns how many may be there.
	lookup func(filters, keys [][]byte) (matches int)
	// many asks one filter for all keys at once. It is nil if the implementation cannot.
	many func(filter []byte, keys [][]byte, may []bool)
	// build builds a filter, in memory that it uses again for the next one.
	build func(keys [][]byte) (filter []byte)

	queries *Queries
	keys    [][]byte
}

// LevelDBBloom is the encoding of several contestants.
const LevelDBBloom = "exact"

// FromPolicy returns one of levelbloom's policies, called through the interface that adapters call.
//
//go:noinline
func FromPolicy(name, encoding string, p policy.Policy) Contestant {
	b := p.NewBuilder()
	var dst []byte
	c := &inProcess{
		name: name, encoding: encoding,
		lookup: func(filters, keys [][]byte) (matches int) {
			filters = filters[:len(keys)]
			for i, key := range keys {
				if p.MayContain(filters[i], key) {
					matches++
				}
			}
			return matches
		},
		build: func(keys [][]byte) []byte {
			for _, key := range keys {
				b.Add(key)
			}
			dst = b.Finish(dst[:0])
			return dst
		},
	}
	if policy.Compatible(p, new(policy.Bloom)) {
		c.many = policy.MayContainMany
	}
	return c
}

// FromGoLevelDB returns a filter as goleveldb calls it: one generator builds the filters of a
// table.
//
//go:noinline
func FromGoLevelDB(name, encoding string, f filter.Filter) Contestant {
	g := f.NewGenerator()
	var dst clean
	return &inProcess{
		name: name, encoding: encoding,
		lookup: func(filters, keys [][]byte) (matches int) {
			filters = filters[:len(keys)]
			for i, key := range keys {
				if f.Contains(filters[i], key) {
					matches++
				}
			}
			return matches
		},
		build: func(keys [][]byte) []byte {
			for _, key := range keys {
				g.Add(key)
			}
			dst.memory = dst.memory[:0]
			g.Generate(&dst)
			return dst.memory
		},
	}
}

// clean is the memory that goleveldb's generators write to. It is cleared, as a table's is at
// first; goleveldb's own generator relies on it.
type clean struct{ memory []byte }

func (c *clean) Alloc(n int) []byte {
	before := len(c.memory)
	c.memory = slices.Grow(c.memory, n)[:before+n]
	clear(c.memory[before:])
	return c.memory[before:]
}

func (c *clean) Write(b []byte) (int, error) { return copy(c.Alloc(len(b)), b), nil }
func (c *clean) WriteByte(b byte) error      { c.Alloc(1)[0] = b; return nil }

// FromPebble returns a policy as Pebble v2 calls it: each table has a writer.
//
//go:noinline
func FromPebble(name, encoding string, p pebble.FilterPolicy) Contestant {
	var dst []byte
	return &inProcess{
		name: name, encoding: encoding,
		lookup: func(filters, keys [][]byte) (matches int) {
			filters = filters[:len(keys)]
			for i, key := range keys {
				if p.MayContain(pebble.TableFilter, filters[i], key) {
					matches++
				}
			}
			return matches
		},
		build: func(keys [][]byte) []byte {
			w := p.NewWriter(pebble.TableFilter)
			for _, key := range keys {
				w.AddKey(key)
			}
			dst = w.Finish(dst[:0])
			return dst
		},
	}
}

func (c *inProcess) Name() string     { return c.name }
func (c *inProcess) Encoding() string { return c.encoding }
func (c *inProcess) Close() error     { return nil }

func (c *inProcess) SetQueries(q *Queries) error { c.queries = q; return nil }

func (c *inProcess) Lookup(pass int) (d time.Duration, matches int, err error) {
	c.ask(pass + 1)
	d, matches = c.ask(pass)
	return d, matches, nil
}

// ask asks all queries once.
func (c *inProcess) ask(pass int) (d time.Duration, matches int) {
	q := c.queries
	filters := q.filtersAsked(pass)
	start := time.Now()
	if q.AtOnce && c.many != nil {
		matches = c.askMany(q.Filters[0], q.Keys)
	} else {
		matches = c.lookup(filters, q.Keys)
	}
	return time.Since(start), matches
}

func (c *inProcess) askMany(filter []byte, keys [][]byte) (matches int) {
	var may [keysAtOnce]bool
	for len(keys) > 0 {
		part := keys[:min(keysAtOnce, len(keys))]
		keys = keys[len(part):]
		c.many(filter, part, may[:len(part)])
		matches += countTrue(may[:len(part)])
	}
	return matches
}

func (c *inProcess) Answers() ([]bool, error) {
	q := c.queries
	answers := make([]bool, len(q.Keys))
	filters := q.filtersAsked(0)
	if q.AtOnce && c.many != nil {
		c.many(filters[0], q.Keys, answers)
		return answers, nil
	}
	for i := range answers {
		answers[i] = c.lookup(filters[i:i+1], q.Keys[i:i+1]) == 1
	}
	return answers, nil
}

func (c *inProcess) SetKeys(keys [][]byte) error { c.keys = keys; return nil }

func (c *inProcess) Build(each int) (time.Duration, error) {
	if each < large {
		c.buildAll(each, func([]byte) {})
	}
	start := time.Now()
	c.buildAll(each, func([]byte) {})
	return time.Since(start), nil
}

func (c *inProcess) BuildFilters(each int) (filters [][]byte, err error) {
	c.buildAll(each, func(filter []byte) { filters = append(filters, bytes.Clone(filter)) })
	return filters, nil
}

func (c *inProcess) buildAll(each int, use func(filter []byte)) {
	for part := range slices.Chunk(c.keys, each) {
		use(c.build(part))
	}
}
