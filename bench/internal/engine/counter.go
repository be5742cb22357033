package engine

import (
	"bytes"
	"sync"
)

// A counter counts how lookups consult filters, one after the other, and how often they answer
// "absent". If a lookup consults a filter twice, as the adapters' Has does before it reads, that
// counts once.
type counter struct {
	mu              sync.Mutex
	key             []byte         // of the lookup
	seen            map[*byte]bool // its filters, by their memory
	checks, avoided int64
}

// count takes the answer of a filter, and returns it.
func (c *counter) count(filter, key []byte, may bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil || !bytes.Equal(key, c.key) {
		c.key, c.seen = append(c.key[:0], key...), map[*byte]bool{}
	}
	if len(filter) == 0 || c.seen[&filter[0]] {
		return may
	}
	c.seen[&filter[0]] = true
	if c.checks++; !may {
		c.avoided++
	}
	return may
}

// Checks returns how often filters were consulted, and how often they answered "absent".
func (c *counter) Checks() (checks, avoided int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.checks, c.avoided
}
