package keys

import (
	"bytes"
	"slices"
)

// sliceBytes is the memory of a key in addition to its bytes.
const sliceBytes = 24

// A collector holds keys up to a limit of bytes.
type collector struct {
	limit, size int
	keys        [][]byte
}

// add adds a copy of key. It reports false if there is no room.
func (c *collector) add(key []byte) bool {
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
