package filterbench

import (
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/levelbloom/levelbloom/policy"
)

// A Filter builds filters of a kind and consults them, as its engine does. It is not safe for
// concurrent use.
//
// The functions that return one are not inlined: the compiler could see which policy it is, and
// call it in another way than an engine, which cannot. Each has loops of its own, so that nothing
// is between a loop and the interface.
type Filter struct {
	// Build builds a filter of sorted keys, in memory that it uses again for the next one.
	Build func(keys [][]byte) (filter []byte)
	// Count looks keys up in a filter, and returns how many it may contain.
	Count func(filter []byte, keys [][]byte) (n int)
}

// ofPolicy returns one of levelbloom's, called through an interface as the others are.
//
//go:noinline
func ofPolicy(p interface {
	NewBuilder() policy.Builder
	MayContain(filter, key []byte) bool
}) *Filter {
	b := p.NewBuilder()
	var dst []byte
	return &Filter{
		Count: func(filter []byte, keys [][]byte) (n int) {
			for _, key := range keys {
				if p.MayContain(filter, key) {
					n++
				}
			}
			return n
		},
		Build: func(keys [][]byte) []byte {
			for _, key := range keys {
				b.Add(key)
			}
			dst = b.Finish(dst[:0])
			return dst
		},
	}
}

// ofGoLevelDB returns goleveldb's own: one generator builds the filters of a table.
//
//go:noinline
func ofGoLevelDB(f filter.Filter) *Filter {
	g := f.NewGenerator()
	var dst clean
	return &Filter{
		Count: func(filter []byte, keys [][]byte) (n int) {
			for _, key := range keys {
				if f.Contains(filter, key) {
					n++
				}
			}
			return n
		},
		Build: func(keys [][]byte) []byte {
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

// ofPebble returns Pebble's own: each table has a writer.
//
//go:noinline
func ofPebble(p pebble.FilterPolicy) *Filter {
	var dst []byte
	return &Filter{
		Count: func(filter []byte, keys [][]byte) (n int) {
			for _, key := range keys {
				if p.MayContain(pebble.TableFilter, filter, key) {
					n++
				}
			}
			return n
		},
		Build: func(keys [][]byte) []byte {
			w := p.NewWriter(pebble.TableFilter)
			for _, key := range keys {
				w.AddKey(key)
			}
			dst = w.Finish(dst[:0])
			return dst
		},
	}
}
