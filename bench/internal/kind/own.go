package kind

import (
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/policy"
)

// wholeBits returns the bits per key that an engine's own filter has: it takes whole ones.
func wholeBits(bitsPerKey float64) (int, error) {
	if !(bitsPerKey > 0 && bitsPerKey <= 100) {
		return 0, fmt.Errorf("%v bits per key: pass a number above 0, at most 100", bitsPerKey)
	}
	return int(math.Ceil(bitsPerKey)), nil
}

func newGoLevelDB(bitsPerKey float64) (policy.Policy, error) {
	bits, err := wholeBits(bitsPerKey)
	return golevel{filter.NewBloomFilter(bits)}, err
}

func newPebble(bitsPerKey float64) (policy.Policy, error) {
	bits, err := wholeBits(bitsPerKey)
	return pebbles{bloom.FilterPolicy(bits)}, err
}

type golevel struct{ filter.Filter }

func (p golevel) MayContain(filter, key []byte) bool { return p.Contains(filter, key) }
func (p golevel) NewBuilder() policy.Builder {
	return &ownBuilder{finish: func(keys [][]byte) []byte {
		g := p.NewGenerator()
		for _, key := range keys {
			g.Add(key)
		}
		var b util.Buffer
		g.Generate(&b)
		return b.Bytes()
	}}
}

type pebbles struct{ pebble.FilterPolicy }

func (p pebbles) MayContain(filter, key []byte) bool {
	return p.FilterPolicy.MayContain(pebble.TableFilter, filter, key)
}
func (p pebbles) NewBuilder() policy.Builder {
	return &ownBuilder{finish: func(keys [][]byte) []byte {
		w := p.NewWriter(pebble.TableFilter)
		for _, key := range keys {
			w.AddKey(key)
		}
		return w.Finish(nil)
	}}
}

// ownBuilder builds a filter of the keys that it was given. They must not change before Finish.
type ownBuilder struct {
	keys   [][]byte
	finish func(keys [][]byte) []byte
}

func (b *ownBuilder) Add(key []byte) { b.keys = append(b.keys, key) }
func (b *ownBuilder) Len() int       { return len(b.keys) }

func (b *ownBuilder) Finish(dst []byte) []byte {
	dst = append(dst, b.finish(b.keys)...)
	b.keys = b.keys[:0]
	return dst
}
