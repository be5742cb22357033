package torture

import (
	"bytes"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
)

// model says what a database must contain of the keys that begin with one byte.
type model struct {
	id     byte
	prefix func(key []byte) []byte
	keys   map[string]uint64 // the versions of the keys that are there
}

// modelKeys is how many different keys a model has.
const modelKeys = 600

// key returns key i of modelKeys. Every four share their first 8 bytes.
func (m model) key(i int) []byte {
	key := binary.BigEndian.AppendUint64(nil, uint64(i/4+1)*0x9e3779b97f4a7c15)
	key[0] = m.id
	return append(key, make([]byte, i%4)...)
}

// value returns what is written as a version of a key. It does not compress.
func value(version uint64) []byte {
	noise := sha512.Sum512([]byte{byte(version)})
	return append(binary.BigEndian.AppendUint64(nil, version), noise[:version%64]...)
}

// get returns an error if the reader's Get or Find answers something else than the model.
func (m model) get(from enginetest.Reader, key []byte) error {
	version, present := m.keys[string(key)]
	for i, get := range []func([]byte) ([]byte, error){from.Get, from.Find} {
		got, err := get(key)
		if err != nil {
			return err
		}
		if present != (got != nil) || present && !bytes.Equal(got, value(version)) {
			return fmt.Errorf("%w: %s of key %x: %x, present %v, version %d",
				enginetest.ErrWrong, []string{"Get", "Find"}[i], key, got, present, version)
		}
	}
	return nil
}

// seek returns an error if Seek does not find exactly the keys that have the prefix of key and are
// not below it.
func (m model) seek(in enginetest.Reader, key []byte) error {
	var want []enginetest.Entry
	for i := range 4 {
		k := append(bytes.Clone(key[:8]), make([]byte, i)...)
		version, ok := m.keys[string(k)]
		if ok && bytes.Compare(k, key) >= 0 && bytes.Equal(m.prefix(key), m.prefix(k)) {
			want = append(want, enginetest.Entry{Key: string(k), Value: string(value(version))})
		}
	}
	got, err := in.Seek(key)
	if err == nil && !slices.Equal(want, got) {
		return fmt.Errorf("%w: Seek of key %x: %x instead of %x",
			enginetest.ErrWrong, key, got, want)
	}
	return err
}

// check looks up every key that the model may have, and scans for those that it has.
func (m model) check(in enginetest.Reader) error {
	var want []enginetest.Entry
	for _, key := range slices.Sorted(maps.Keys(m.keys)) {
		want = append(want, enginetest.Entry{Key: key, Value: string(value(m.keys[key]))})
	}
	for i := range modelKeys {
		if err := m.get(in, m.key(i)); err != nil {
			return err
		}
		if err := m.seek(in, m.key(i)); err != nil {
			return err
		}
	}
	got, err := in.Scan([]byte{m.id}, []byte{m.id + 1})
	if err == nil && !slices.Equal(want, got) {
		return fmt.Errorf("%w: keys of %c: %x instead of %x", enginetest.ErrWrong, m.id, got, want)
	}
	return err
}
