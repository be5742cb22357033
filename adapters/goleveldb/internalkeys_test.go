package goleveldb_test

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
)

// The encoding is that of LevelDB's db/dbformat.h: the user's key, one byte of kind, and 7 bytes of
// sequence number, little-endian.
func TestParseInternalKey(t *testing.T) {
	for _, c := range []struct {
		key  string
		want goleveldb.InternalKey
	}{
		{"key\x01\x02\x00\x00\x00\x00\x00\x00",
			goleveldb.InternalKey{User: []byte("key"), Sequence: 2}},
		{"key\x00\x02\x01\x00\x00\x00\x00\x00",
			goleveldb.InternalKey{User: []byte("key"), Sequence: 258, Deleted: true}},
		{"\x01\xff\xff\xff\xff\xff\xff\xff",
			goleveldb.InternalKey{User: []byte{}, Sequence: 1<<56 - 1}},
	} {
		got, err := goleveldb.ParseInternalKey([]byte(c.key))
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	require.Equal(t, []byte("key\x01\xff\xff\xff\xff\xff\xff\xff"),
		goleveldb.SearchKey([]byte("key")))

	for key, message := range map[string]string{
		"":                                    "has 0 bytes, not at least 8",
		"1234567":                             "has 7 bytes, not at least 8",
		"key\x02\x02\x00\x00\x00\x00\x00\x00": "has kind 2, not 0 for a deletion or 1 for a value",
	} {
		_, err := goleveldb.ParseInternalKey([]byte(key))
		require.ErrorContains(t, err, message)
	}
}

// The answer for a key too short for a trailer is "may contain", whatever the filter is.
func TestForInternalKeysShortKeys(t *testing.T) {
	p := bloom(t, 10)
	f := goleveldb.ForInternalKeys(goleveldb.New(p))
	ofNoKeys := p.AppendFilter(nil, nil)
	require.True(t, f.Contains(ofNoKeys, []byte("1234567")))
	require.False(t, f.Contains(ofNoKeys, []byte("12345678")), "the empty user key")
}

// A damaged table may have keys of any length. The comparer orders them, always in the same way,
// and does not panic.
func TestInternalComparerOfShortKeys(t *testing.T) {
	c := goleveldb.TableOptions(nil).Comparer
	ordered := [][]byte{
		nil,
		[]byte("1234567"),
		[]byte("2"),
		goleveldb.SearchKey(nil),
		goleveldb.SearchKey([]byte("1")),
	}
	for i, a := range ordered {
		for j, b := range ordered {
			require.Equal(t, cmp.Compare(i, j), c.Compare(a, b), "%x and %x", a, b)
		}
	}
	require.Nil(t, c.Separator(nil, ordered[1], ordered[4]))
	require.Nil(t, c.Separator(nil, ordered[4], ordered[1]))
	require.Nil(t, c.Successor(nil, ordered[1]))
}
