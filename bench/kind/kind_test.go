package kind

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// What the policies write, with bits per key at which the binary fuse filter's fingerprints are known.
func TestOf(t *testing.T) {
	made := func(p policy.Policy, err error) []byte {
		require.NoError(t, err)
		b := p.NewBuilder()
		for i := range 3000 {
			b.Add(fmt.Appendf(nil, "key %d", i))
		}
		return b.Finish(nil)
	}
	for _, c := range []struct {
		filter []byte
		kind   Kind
		text   string
	}{
		{made(policy.NewBloom(10)), Kind{Encoding: Exact}, "exact"},
		{made(policy.NewBloom(1000)), Kind{Encoding: Exact}, "exact"}, // 30 probes
		{made(policy.NewBlockedBloom(10)), Kind{Encoding: Blocked}, "blocked"},
		{made(policy.NewBinaryFuse(2)), Kind{Encoding: Blocked}, "blocked"},
		{made(policy.NewBinaryFuse(12)), Kind{Fuse, 8}, "fuse 8"},
		{made(policy.NewBinaryFuse(18)), Kind{Fuse, 12}, "fuse 12"},
		{made(policy.NewBinaryFuse(24)), Kind{Fuse, 16}, "fuse 16"},
		{nil, Kind{Encoding: Exact}, "exact"},
		{[]byte{0x42}, Kind{Encoding: Exact}, "exact"}, // shorter than any other
		{[]byte{0, 6, 1, 0x42}, Kind{Encoding: Blocked}, "blocked"},
		{[]byte{0, 6, 2, 0x42}, Kind{Encoding: Unknown}, "unknown"},
		{[]byte{0, 6, 1, 0x43}, Kind{Encoding: Unknown}, "unknown"},
		{[]byte{8, 1, 0x46}, Kind{Encoding: Unknown}, "unknown"}, // too short
		{append(make([]byte, 14), 2, 0x46), Kind{Encoding: Unknown}, "unknown"},
		{append(make([]byte, 13), 12, 1, 0x46), Kind{Fuse, 12}, "fuse 12"},
	} {
		require.Equal(t, c.kind, Of(c.filter), c.text)
		require.Equal(t, c.text, c.kind.String())
	}
}
