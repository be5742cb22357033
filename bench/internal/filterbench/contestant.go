package filterbench

import (
	"hash/fnv"
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

	// start gets ready for a cell. The function that it returns takes a turn.
	start(*inputs) func() turn
}

// A turn is the work of a cell, done once.
type turn struct {
	keys int
	ns   float64 // per key
	// check is the number of lookups that were answered with "may contain", or a hash of the
	// filters built. It is the same for all contestants of an encoding.
	check uint32
}

// timed is a contestant that is timed here. The functions that return one are not inlined:
// the compiler could see which policy it is, and call it in another way than an engine, which
// cannot. Each has a loop of its own, so that nothing is between the loop and the interface.
type timed struct {
	name, encoding string
	// lookup asks a filter for keys, and returns how many may be there.
	lookup func(filter []byte, keys [][]byte) (matches int)
	// build builds a filter, in memory that it uses again for the next one.
	build func(keys [][]byte) (filter []byte)
}

// LevelDBBloom is the encoding of several contestants.
const LevelDBBloom = "bloom"

// FromPolicy returns one of levelbloom's policies, called through the interface that adapters call.
//
//go:noinline
func FromPolicy(name, encoding string, p policy.Policy) Contestant {
	b := p.NewBuilder()
	var dst []byte
	return &timed{
		name: name, encoding: encoding,
		lookup: func(filter []byte, keys [][]byte) (matches int) {
			for _, key := range keys {
				if p.MayContain(filter, key) {
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
}

// FromGoLevelDB returns goleveldb's filter as it calls it: one generator builds the filters of a
// table.
//
//go:noinline
func FromGoLevelDB(name string, f filter.Filter) Contestant {
	g := f.NewGenerator()
	var dst clean
	return &timed{
		name: name, encoding: LevelDBBloom,
		lookup: func(filter []byte, keys [][]byte) (matches int) {
			for _, key := range keys {
				if f.Contains(filter, key) {
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
func FromPebble(name string, p pebble.FilterPolicy) Contestant {
	var dst []byte
	return &timed{
		name: name, encoding: name,
		lookup: func(filter []byte, keys [][]byte) (matches int) {
			for _, key := range keys {
				if p.MayContain(pebble.TableFilter, filter, key) {
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

func (c *timed) Name() string     { return c.name }
func (c *timed) Encoding() string { return c.encoding }

func (c *timed) start(in *inputs) func() turn {
	if in.Work == Build {
		return c.startBuild(in)
	}
	filter := in.filter(c)
	return func() turn {
		c.lookup(filter, in.queries) // untimed
		start := time.Now()
		matches := c.lookup(filter, in.queries)
		return newTurn(len(in.queries), time.Since(start), uint32(matches))
	}
}

func (c *timed) startBuild(in *inputs) func() turn {
	hash := fnv.New32a()
	c.buildAll(in, func(filter []byte) { hash.Write(filter) })
	return func() turn {
		if in.N < large {
			c.buildAll(in, func([]byte) {}) // untimed
		}
		start := time.Now()
		c.buildAll(in, func([]byte) {})
		return newTurn(len(in.present), time.Since(start), hash.Sum32())
	}
}

func (c *timed) buildAll(in *inputs, use func(filter []byte)) {
	for part := range slices.Chunk(in.present, in.N) {
		use(c.build(part))
	}
}

func newTurn(keys int, total time.Duration, check uint32) turn {
	return turn{keys, float64(total.Nanoseconds()) / float64(keys), check}
}
