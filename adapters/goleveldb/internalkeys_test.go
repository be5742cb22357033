package goleveldb_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
)

func TestForInternalKeys(t *testing.T) {
	p := bloom(t, 10)
	plain := goleveldb.New(p)
	f := goleveldb.ForInternalKeys(plain)
	require.Equal(t, plain.Name(), f.Name())

	users := append(randomKeys(seeded(t, 5), 100), nil) // the empty key too
	var internal [][]byte
	for _, user := range users {
		internal = append(internal, newest(user))
	}
	made := generate(f.NewGenerator(), internal)
	require.Equal(t, p.AppendFilter(nil, users), made)
	lost := 0
	for _, key := range internal {
		require.True(t, f.Contains(made, key))
		if !plain.Contains(made, key) {
			lost++
		}
	}
	require.Greater(t, lost, 90, "what the wrapper is for: the bare filter loses nearly every internal key")
}

// Keys too short for a trailer are never answered "absent", whatever the filter.
func TestForInternalKeysShortKeys(t *testing.T) {
	p := bloom(t, 10)
	f := goleveldb.ForInternalKeys(goleveldb.New(p))
	ofNoKeys := p.AppendFilter(nil, nil)
	var short [][]byte
	for n := range 8 {
		key := []byte("1234567")[:n]
		short = append(short, key)
		require.True(t, f.Contains(ofNoKeys, key), "%d bytes", n)
		require.True(t, f.Contains(nil, key), "%d bytes", n)
	}
	require.False(t, f.Contains(ofNoKeys, []byte("12345678")), "an internal key of the empty user key")
	require.Equal(t, p.AppendFilter(nil, short), generate(f.NewGenerator(), short))
}

func TestForInternalKeysRefusesNil(t *testing.T) {
	require.PanicsWithValue(t, "goleveldb: ForInternalKeys of a nil filter: pass one, such as New returns",
		func() { goleveldb.ForInternalKeys(nil) })
}
