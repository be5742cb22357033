package policy

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// requireProbes requires that a key is found if its k bits are set and no others are, and lost if
// any of them is missing. It takes a filter without any bit.
func requireProbes(t *testing.T, filter, key []byte) {
	h := referenceHash(key)
	delta := h>>17 | h<<15
	nbits := uint64(len(filter)-1) * 8
	var probes []uint64
	for range filter[nbits/8] {
		probes = append(probes, uint64(h)%nbits)
		h += delta
	}
	for _, p := range probes {
		filter[p/8] |= 1 << (p % 8)
	}
	check := func(without any) {
		if MayContain(filter, key) != (without == nil) {
			require.Fail(t, "wrong answer", "key %x; %d bytes, without bit %v", key, len(filter),
				without)
		}
	}
	check(nil)
	for _, p := range probes {
		filter[p/8] &^= 1 << (p % 8)
		check(p)
		filter[p/8] |= 1 << (p % 8)
	}
	for _, p := range probes {
		filter[p/8] = 0
	}
}

// Each probe counts, also in arrays around 2^31, 2^32 and 2^33 bits, of which only the touched
// pages exist.
func TestEveryProbe(t *testing.T) {
	rng := testkit.Rand(t, 24)
	for _, size := range []int{1, 2, 7, 64, 2000, 1<<28 - 1, 1 << 28, 1<<28 + 1, 1<<29 - 1, 1 << 29,
		1<<29 + 1, 1<<29 + 4096, 1<<30 - 1, 1 << 30, 1<<30 + 1} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			if size > 2000 {
				testkit.Large(t)
			}
			filter := make([]byte, size+1)
			for _, k := range []byte{1, 2, 3, 4, 5, 6, 7, 29, bloom.MaxProbes} {
				filter[size] = k
				for range 20 {
					key := make([]byte, rng.Intn(201))
					rng.Read(key)
					requireProbes(t, filter, key)
				}
			}
		})
	}
}

// A filter of an encoding that this package does not know may contain every key: here, sound ribbon
// filters but for the last byte.
func TestUnknownEncodingsMayContainAll(t *testing.T) {
	filter := testkit.Must(NewRibbon(10)).AppendFilter(nil, testkit.Keys(testkit.Rand(t, 58), 50))
	end := filter[len(filter)-2:] // check and encoding
	for last := bloom.MaxProbes + 1; last < 256; last++ {
		if last == ribbon.Encoding {
			continue
		}
		end[0] ^= end[1] ^ byte(last)
		end[1] = byte(last)
		for i := range byte(20) {
			require.True(t, ask(t, filter, []byte{i, i}), "%x", last)
		}
	}
}
