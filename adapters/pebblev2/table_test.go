package pebblev2_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// filterOf returns the filter that p builds of keys.
func filterOf(p *policy.Policy, keys [][]byte) []byte {
	b := p.NewBuilder()
	for _, key := range keys {
		b.Add(key)
	}
	return b.Finish(nil)
}

// A writer builds LevelDB's filter of its keys, without those that equal the one before, as Pebble
// adds a key once per version. It can be used again after Finish, also if a table begins with the
// last key of the one before, appends to any destination, and does not keep the caller's memory.
func TestWriter(t *testing.T) {
	rng := testkit.Rand(t, 20)
	for _, bits := range []float64{1, 9.5, 10, 40} {
		p := bloom(t, bits)
		w := pebblev2.New(p).NewWriter(pebble.TableFilter)
		for range 50 {
			var keys [][]byte
			buf := make([]byte, 2)
			for range rng.Intn(60) {
				key := buf[:rng.Intn(3)] // so few different keys that many repeat
				for i := range key {
					key[i] = byte(rng.Intn(2)) << 7
				}
				keys = append(keys, bytes.Clone(key))
				w.AddKey(key)
				rng.Read(buf)
			}
			distinct := slices.CompactFunc(keys, bytes.Equal)

			dst := bytes.Repeat([]byte{0xff}, 1000)[:rng.Intn(10)]
			want := p.AppendFilter(bytes.Clone(dst), distinct)
			require.Equal(t, want, w.Finish(dst), "%v bits per key, %x", bits, distinct)
		}
	}
}
