package sstable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
)

// entries iterates over the entries of a data, index or metaindex block. The key and the value of
// an entry are valid until the next call.
type entries struct {
	block    []byte // without the restarts
	restarts []byte // the offsets not yet reached, 4 bytes each
	at       int    // offset of the next entry

	key, value []byte
	keyBytes   uint64 // of all keys so far
}

// maxSharing bounds what the keys of a block may add up to: this many times the block's size. A key
// can share all bytes of the one before, so without a bound they could add up to the square of the
// size, and take a reader that much time. Engines write a restart, which shares no bytes, for every
// 16 keys, so their keys stay below 16 times the size; with a restart for every 256 keys they stay
// below 256 times. So do keys of up to 256*3 bytes, however much they share, since an entry takes 3
// bytes besides its key.
const maxSharing = 256

// maxKeptSharing is the bound for the metaindex and the index, whose keys are kept in memory.
const maxKeptSharing = 16

// checkKeys returns an error if the keys so far add up to more than times the block's size, or to
// more than maxBlock.
func (e *entries) checkKeys(times int) error {
	switch size := uint64(len(e.block)); {
	case e.keyBytes > uint64(times)*size:
		return fmt.Errorf("%w: its keys add up to %d bytes, more than %d times its %d",
			ErrTooLarge, e.keyBytes, times, size)
	case e.keyBytes > maxBlock:
		return fmt.Errorf("%w: its keys add up to %d bytes, of at most %d",
			ErrTooLarge, e.keyBytes, maxBlock)
	}
	return nil
}

// entriesOf returns the entries of a block as blockReader.read returned it, and at the first error
// ends with it. All steps return the same entries, which are at the next one each time.
func entriesOf(block []byte, readErr error) iter.Seq2[*entries, error] {
	return func(yield func(*entries, error) bool) {
		e, err := newEntries(block)
		if readErr != nil {
			err = readErr
		}
		for err == nil {
			if err = e.next(); err == nil && !yield(e, nil) {
				return
			}
		}
		if err != io.EOF {
			yield(nil, err)
		}
	}
}

// newEntries returns the entries of a block's contents, or an error if the end of the block is
// wrong.
func newEntries(block []byte) (*entries, error) {
	if len(block) < 4 {
		return nil, fmt.Errorf("a block of %d bytes is too short for the number of its restarts",
			len(block))
	}
	end := len(block) - 4
	restarts := binary.LittleEndian.Uint32(block[end:])
	if uint64(restarts) > uint64(end/4) {
		return nil, fmt.Errorf("%d restarts in a block of %d bytes", restarts, len(block))
	}
	start := end - 4*int(restarts)
	if restarts == 0 && start > 0 {
		return nil, errors.New("entries without a restart, which C++ LevelDB ignores")
	}
	e := &entries{block: block[:start], restarts: block[start:end]}
	// C++ LevelDB and goleveldb write one restart even in a block without entries.
	if start == 0 && restarts == 1 && binary.LittleEndian.Uint32(e.restarts) == 0 {
		e.restarts = nil
	}
	return e, nil
}

// next steps to the next entry. It returns io.EOF after the last one.
func (e *entries) next() error {
	if e.at == len(e.block) {
		if len(e.restarts) > 0 {
			return fmt.Errorf("a restart at %d, where no entry begins",
				binary.LittleEndian.Uint32(e.restarts))
		}
		return io.EOF
	}
	rest := e.block[e.at:]
	var lengths [3]uint64 // shared, unshared, value
	for i := range lengths {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > math.MaxUint32 {
			return fmt.Errorf("the entry at %d has no valid lengths", e.at)
		}
		lengths[i], rest = n, rest[size:]
	}
	shared, unshared, value := lengths[0], lengths[1], lengths[2]
	if shared > uint64(len(e.key)) {
		return fmt.Errorf("the entry at %d shares %d bytes with a key of %d",
			e.at, shared, len(e.key))
	}
	if unshared+value > uint64(len(rest)) {
		return fmt.Errorf("the entry at %d has %d bytes, and %d are left",
			e.at, unshared+value, len(rest))
	}
	if err := e.restart(shared); err != nil {
		return err
	}
	e.key = append(e.key[:shared], rest[:unshared]...)
	e.keyBytes += uint64(len(e.key))
	if err := e.checkKeys(maxSharing); err != nil {
		return err
	}
	e.value = rest[unshared:][:value]
	e.at = len(e.block) - len(rest[unshared+value:])
	return nil
}

// restart checks the restarts against the entry at e.at. A search begins at a restart, so a wrong
// one would hide keys.
func (e *entries) restart(shared uint64) error {
	if len(e.restarts) == 0 {
		return nil
	}
	switch restart := binary.LittleEndian.Uint32(e.restarts); {
	case uint64(restart) < uint64(e.at):
		return fmt.Errorf("a restart at %d, where no entry begins", restart)
	case uint64(restart) > uint64(e.at):
		if e.at == 0 {
			return errors.New("no restart at the first entry")
		}
	case shared != 0:
		return fmt.Errorf("the entry at %d is a restart, but shares %d bytes with the key before",
			e.at, shared)
	default:
		e.restarts = e.restarts[4:]
	}
	return nil
}
