package tables

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// walkRows calls f for the entries of a block in LevelDB's layout, which RocksDB's tables have, and Pebble's up to v4. The
// key is valid until f returns. An error of f ends the walk and is returned.
//
// sstable's reader of such blocks would not do: it compares the restarts, which Pebble marks with bits of its own, and LevelDB
// allows longer varints. This accepts nothing that Pebble's reader would misread: that follows the lengths with pointers, and trusts checksums. It
// leaves the restarts aside, where reading from front to back never looks.
func walkRows(block []byte, f func(key, value []byte) error) error {
	if len(block) < 4 {
		return errors.New("too short for the number of its restarts")
	}
	end := len(block) - 4
	restarts := binary.LittleEndian.Uint32(block[end:])
	if restarts == 0 || uint64(restarts) > uint64(end/4) {
		return fmt.Errorf("%d restarts in %d bytes", restarts, len(block))
	}
	rest := block[:end-4*int(restarts)]
	if len(rest) > 0 && rest[0] != 0 {
		return errors.New("the first key shares bytes with one before")
	}
	var key []byte
	for entries := 0; len(rest) > 0; entries++ {
		var lengths [3]uint64 // shared, unshared, value
		for i := range lengths {
			n := 0
			if lengths[i], n = uvarint32(rest); n == 0 {
				return fmt.Errorf("entry %d does not tell its lengths", entries)
			}
			rest = rest[n:]
		}
		shared, unshared, value := lengths[0], lengths[1], lengths[2]
		if shared > uint64(len(key)) {
			return fmt.Errorf("entry %d shares %d bytes with a key of %d", entries, shared, len(key))
		}
		if unshared+value > uint64(len(rest)) {
			return fmt.Errorf("entry %d has %d bytes, and %d are left", entries, unshared+value, len(rest))
		}
		key = append(key[:shared], rest[:unshared]...)
		if err := f(key, rest[unshared:][:value]); err != nil {
			return fmt.Errorf("entry %d: %w", entries, err)
		}
		rest = rest[unshared+value:]
	}
	return nil
}

// uvarint32 returns the number of at most 32 bits that b begins with and its length, 0 if there is none. Pebble reads at
// most 5 bytes of it.
func uvarint32(b []byte) (uint64, int) {
	v, n := binary.Uvarint(b)
	if n <= 0 || n > 5 || v > math.MaxUint32 {
		return 0, 0
	}
	return v, n
}
