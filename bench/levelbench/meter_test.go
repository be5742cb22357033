package levelbench

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
)

// A meter makes and reads the filters of the policy that it is around, and counts both.
func TestMeter(t *testing.T) {
	for _, c := range []struct {
		encoding, writtenAs string
		bits                float64
	}{
		{"exact", "exact", 10},
		{"blocked", "blocked", 10},
		{"fuse", "blocked", 8},
		{"fuse", "fuse 8", 12},
		{"fuse", "fuse 12", 19},
		{"fuse", "fuse 16", 28},
		{"builtin", "builtin", 10},
	} {
		t.Run(fmt.Sprintf("%s/%v", c.encoding, c.bits), func(t *testing.T) {
			e, err := encodingNamed(c.encoding)
			require.NoError(t, err)
			var p pebble.FilterPolicy = bloom.FilterPolicy(int(c.bits))
			if e.newPolicy != nil {
				ours, err := e.newPolicy(c.bits)
				require.NoError(t, err)
				p = pebblev2.New(ours)
			}
			m := newMeter(p, e, 5)
			require.Equal(t, c.encoding+" in L5", m.Name())

			const n = 2000
			key := func(i int) []byte { return fmt.Appendf(nil, "key %d", i) }
			writer, own := m.NewWriter(pebble.TableFilter), p.NewWriter(pebble.TableFilter)
			var bytes int64
			for range 2 { // Pebble may use a writer again
				for i := range n {
					writer.AddKey(key(i))
					own.AddKey(key(i))
				}
				prefix := []byte("prefix")
				filter := writer.Finish(prefix)
				require.Equal(t, own.Finish(prefix), filter)
				bytes += int64(len(filter) - len(prefix))
			}
			built := m.take()
			require.Zero(t, built.Absent)
			require.Zero(t, built.Present)
			require.Len(t, built.Built.Times, 2)
			require.Positive(t, built.making())
			built.Built.Times = nil
			require.Equal(t, Built{Filters: 2, Keys: 2 * n, Bytes: bytes, Written: map[string]int64{c.writtenAs: 2 * n}}, built.Built)
			require.Zero(t, m.take())

			for i := range n {
				writer.AddKey(key(i))
			}
			filter := writer.Finish(nil)
			m.take()
			var absent Answers
			*m.asking = miss
			for i := range n {
				answer := m.MayContain(pebble.TableFilter, filter, key(n+i))
				require.Equal(t, p.MayContain(pebble.TableFilter, filter, key(n+i)), answer)
				absent.Checks++
				if !answer {
					absent.Avoided++
				}
			}
			*m.asking = hit
			for i := range n / 2 {
				require.True(t, m.MayContain(pebble.TableFilter, filter, key(i)))
			}
			require.Equal(t, Level{Absent: absent, Present: Answers{Checks: n / 2}}, m.take())
			require.Equal(t, absent.Checks-absent.Avoided, absent.MayContain())
			require.Greater(t, absent.Avoided, int64(0.9*n))
			require.Zero(t, m.take())
		})
	}
}

// The filter of a table without keys is counted, and has no time per key.
func TestMeterOfNoKeys(t *testing.T) {
	e, err := encodingNamed("blocked")
	require.NoError(t, err)
	p, err := e.newPolicy(10)
	require.NoError(t, err)
	m := newMeter(pebblev2.New(p), e, 0)
	filter := m.NewWriter(pebble.TableFilter).Finish(nil)
	require.Equal(t, Built{Filters: 1, Bytes: int64(len(filter))}, m.take().Built)
}
