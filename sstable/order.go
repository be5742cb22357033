package sstable

import (
	"errors"
	"fmt"
)

// ErrIndexOrder is wrapped by the last error of [Table.Entries] if the keys are in bytewise order,
// as with LevelDB's default comparer, but the index is not consistent with them, so that it hides
// entries from lookups. The keys of a small table may be in this order by chance; then the index
// may be right for another comparer.
var ErrIndexOrder = errors.New("the index does not fit the keys")

// An orderCheck looks for index keys that hide entries from lookups: those below the last key of
// their block, and those not below the first key of the next.
type orderCheck struct {
	index  *index
	format keyFormat

	block int    // of the last entry: its index key is compared next
	any   bool   // there was an entry
	last  []byte // its stored key
	err   error  // the first index key that does not fit

	unordered bool // the keys are not in this order, or not of this format
}

// add takes the next entry of the table.
func (c *orderCheck) add(block int, stored []byte) {
	if _, ok := c.format.userKey(stored); !ok || c.any && c.format.compare(c.last, stored) >= 0 {
		c.unordered = true
	}
	if c.unordered {
		return
	}
	for ; c.block < block; c.block++ {
		c.checkLast()
		if key := c.index.key(c.block); c.err == nil && c.format.compare(key, stored) >= 0 {
			c.err = fmt.Errorf("the key of data block %d, %x, "+
				"is not below the next block's first one, %x", c.block, key, stored)
		}
	}
	c.any, c.last = true, append(c.last[:0], stored...)
}

// checkLast compares the index key of a block with the last key in it and before.
func (c *orderCheck) checkLast() {
	if c.err != nil {
		return
	}
	key := c.index.key(c.block)
	if _, ok := c.format.userKey(key); !ok {
		c.err = fmt.Errorf("the key of data block %d, %x, is too short for an internal one: "+
			"written by leveldb.RecoverFile: call CompactRange before the first lookup",
			c.block, key)
	} else if c.any && c.format.compare(key, c.last) < 0 {
		c.err = fmt.Errorf("the key of data block %d, %x, is below the block's last one, %x",
			c.block, key, c.last)
	}
}

// finish returns the error, and whether the keys were in this order.
func (c *orderCheck) finish() (err error, applies bool) {
	for ; c.any && c.block < c.index.len(); c.block++ {
		c.checkLast()
	}
	return c.err, !c.unordered
}

// finishChecks returns the error, if any, of the first check that applies.
func finishChecks(checks []orderCheck) error {
	for i := range checks {
		if err, applies := checks[i].finish(); applies {
			return err
		}
	}
	return nil
}
