package enginetest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// A Model says what a database must contain of the keys that begin with one byte.
type Model struct {
	id     byte
	prefix func(key []byte) []byte
	Keys   map[string]uint64 // the versions of the keys that are there
}

// ErrWrong is wrapped by the error for an answer that the model contradicts.
var ErrWrong = errors.New("wrong answer")

// ModelKeys is how many different keys a model has.
const ModelKeys = 600

// NewModel returns the model of an empty database.
func NewModel(id byte, v Variant) Model { return Model{id, v.Prefix, map[string]uint64{}} }

// Key returns key i of [ModelKeys]. Every four share their first 8 bytes.
func (m Model) Key(i int) []byte {
	key := binary.BigEndian.AppendUint64(nil, uint64(i/4+1)*0x9e3779b97f4a7c15)
	key[0] = m.id
	return append(key, make([]byte, i%4)...)
}

// Value returns what is written as a version of a key.
func Value(version uint64) []byte {
	return append(
		binary.BigEndian.AppendUint64(nil, version),
		value([]byte{byte(version)})[:version%64]...)
}

// Get returns an error if the reader's Get or Find answers something else than the model.
func (m Model) Get(from Reader, key []byte) error {
	version, present := m.Keys[string(key)]
	for i, get := range []func([]byte) ([]byte, error){from.Get, from.Find} {
		got, err := get(key)
		if err != nil {
			return err
		}
		if present != (got != nil) || present && !bytes.Equal(got, Value(version)) {
			return fmt.Errorf("%w: %s of key %x: %x, present %v, version %d",
				ErrWrong, []string{"Get", "Find"}[i], key, got, present, version)
		}
	}
	return nil
}

// Seek returns an error if Seek does not find exactly the keys that have the prefix of key and are
// not below it.
func (m Model) Seek(in Reader, key []byte) error {
	var want []Entry
	for i := range 4 {
		k := append(bytes.Clone(key[:8]), make([]byte, i)...)
		version, ok := m.Keys[string(k)]
		if ok && bytes.Compare(k, key) >= 0 && bytes.Equal(m.prefix(key), m.prefix(k)) {
			want = append(want, Entry{string(k), string(Value(version))})
		}
	}
	got, err := in.Seek(key)
	if err == nil && !slices.Equal(want, got) {
		return fmt.Errorf("%w: Seek of key %x: %x instead of %x", ErrWrong, key, got, want)
	}
	return err
}

// Check looks up every key that the model may have, and scans for those that it has.
func (m Model) Check(in Reader) error {
	var want []Entry
	for _, key := range slices.Sorted(maps.Keys(m.Keys)) {
		want = append(want, Entry{key, string(Value(m.Keys[key]))})
	}
	for i := range ModelKeys {
		if err := m.Get(in, m.Key(i)); err != nil {
			return err
		}
		if err := m.Seek(in, m.Key(i)); err != nil {
			return err
		}
	}
	got, err := in.Scan([]byte{m.id}, []byte{m.id + 1})
	if err == nil && !slices.Equal(want, got) {
		return fmt.Errorf("%w: keys of %c: %x instead of %x", ErrWrong, m.id, got, want)
	}
	return err
}

// SortedChanges returns the changes in the order of their keys.
func SortedChanges(changes map[string]Change) (all []Change) {
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		all = append(all, changes[key])
	}
	return all
}
