package pebblev2_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// A writer gives LevelDB's filter of the keys it was given, with those left out that equal the one
// before. It does so again after Finish, into any destination, from keys whose memory the caller
// uses again.
func TestWriter(t *testing.T) {
	rng := policytest.Rand(t, 20)
	for _, bits := range []float64{1, 9.5, 10, 40} {
		p := bloom(t, bits)
		w := pebblev2.New(p).NewWriter(pebble.TableFilter)
		for range 50 {
			var keys [][]byte
			buf := make([]byte, 2)
			for range rng.Intn(60) {
				key := buf[:rng.Intn(3)] // few different keys, the empty one among them: many repeat
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

// A table may begin with the key that the one before ended with, if the writer is used for both.
func TestWriterForgetsAtFinish(t *testing.T) {
	p := bloom(t, 10)
	w := pebblev2.New(p).NewWriter(pebble.TableFilter)
	for range 2 {
		w.AddKey([]byte("key"))
		require.Equal(t, p.AppendFilter(nil, [][]byte{[]byte("key")}), w.Finish(nil))
	}
}

func TestOtherTypesOfFilter(t *testing.T) {
	const other = pebble.TableFilter + 1
	f := pebblev2.New(bloom(t, 10))
	filter := f.NewWriter(pebble.TableFilter).Finish(nil)
	require.False(t, f.MayContain(pebble.TableFilter, filter, []byte("key")))
	require.True(t, f.MayContain(other, filter, []byte("key")))
	require.PanicsWithValue(
		t,
		"pebblev2: filters of type unknown are not supported, only pebble.TableFilter",
		func() { f.NewWriter(other) },
	)
}

// renaming is a policy that breaks its contract: its name changes.
type renaming struct {
	policy.Policy
	name string
}

func (r *renaming) Name() string { return r.name }

func TestNewKeepsTheName(t *testing.T) {
	p := &renaming{Policy: bloom(t, 10), name: "a"}
	f := pebblev2.New(p)
	p.name = "b"
	require.Equal(t, "a", f.Name())
	require.Equal(t, policy.Name, pebblev2.New(bloom(t, 10)).Name())
}
