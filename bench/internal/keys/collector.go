package keys

import (
	"bytes"
	"slices"
)

// sliceBytes is the memory of a key besides its bytes.
const sliceBytes = 24

// A collector holds keys up to a limit of bytes.
type collector struct {
	limit, size int
	keys        [][]byte
	low, high   []byte // only keys from low up to high without it count, unless high is nil
}

// add adds a copy of key if it counts. It reports false if there is no room.
func (c *collector) add(key []byte) bool {
	if c.high != nil && (bytes.Compare(key, c.low) < 0 || bytes.Compare(c.high, key) <= 0) {
		return true
	}
	if c.size+sliceBytes+len(key) > c.limit {
		c.compact()
		if c.size > c.limit/2 {
			return false
		}
	}
	c.size += sliceBytes + len(key)
	c.keys = append(c.keys, bytes.Clone(key))
	return true
}

// compact sorts the keys and drops repetitions.
func (c *collector) compact() {
	slices.SortFunc(c.keys, bytes.Compare)
	c.keys = slices.CompactFunc(c.keys, bytes.Equal)
	c.size = 0
	for _, key := range c.keys {
		c.size += sliceBytes + len(key)
	}
}

// narrow leaves the middle half of the compacted keys. Those around them no longer count.
func (c *collector) narrow() {
	from, to := len(c.keys)/4, len(c.keys)*3/4
	c.low, c.high = c.keys[from], c.keys[to]
	c.keys = slices.Clone(c.keys[from:to])
	c.compact()
}
