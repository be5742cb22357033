package sstable_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
	"github.com/levelbloom/levelbloom/sstable"
)

// Any keys in blocks of any sizes: the filter block is sound and loses none of them.
func FuzzFilterBlockBuilder(f *testing.F) {
	f.Add([]byte("\x03one\x00two\x90three"), false)
	f.Add([]byte{0xff, 0xff, 1, 0xff, 2}, true)
	f.Fuzz(func(t *testing.T, data []byte, ribbon bool) {
		var p policy.Policy = policytest.Must(policy.NewBloom(10))
		if ribbon {
			p = policytest.Must(policy.NewRibbon(10))
		}
		type added struct {
			offset uint64
			key    []byte
		}
		var all []added
		b := policytest.Must(sstable.NewFilterBlockBuilder(p))
		offset := uint64(0)
		b.StartBlock(offset)
		for len(data) > 0 {
			n := int(data[0] >> 4)
			if data[0]&1 == 0 { // a new block
				offset += uint64(data[0]) * 97
				b.StartBlock(offset)
			}
			key := data[1:min(1+n, len(data))]
			b.AddKey(key)
			all = append(all, added{offset, key})
			data = data[1+len(key):]
		}
		block := b.Finish()
		r := sstable.NewFilterBlockReader(p, block)
		require.NoError(t, r.Validate())
		for _, a := range all {
			require.True(t, r.MayContain(a.offset, a.key), "key %x at %d", a.key, a.offset)
		}
	})
}
