package torture

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
)

// Forged bytes in a filter, with a valid checksum, cause no panic and no error. A filter of other
// keys costs nearly all keys: so the engine reads what is forged.
func testWrongBytes(t *testing.T, target Target) {
	rng := enginetest.Rand(t, enginetest.Seed())
	for _, kind := range enginetest.Kinds {
		p := kind.MustNew(10, "mine")
		const n = 300
		var keys, others [][]byte
		for i := range n {
			keys = append(keys, fmt.Appendf(nil, "key%08d", i))
			others = append(others, fmt.Appendf(nil, "key%08d", n+i))
		}
		intact, other := filterOf(p, keys), filterOf(p, others)
		require.Zero(t, lostWith(t, target, p, keys, intact), kind.Name)
		require.Greater(t, lostWith(t, target, p, keys, other), n*9/10, kind.Name)
		for _, forged := range forgeries(rng, intact) {
			lostWith(t, target, p, keys, forged)
		}
	}
}

func filterOf(p policy.Policy, keys [][]byte) []byte {
	b := p.NewBuilder()
	for _, key := range keys {
		b.Add(key)
	}
	return b.Finish(nil)
}

// forgeries returns what becomes of a filter.
func forgeries(rng *rand.Rand, original []byte) [][]byte {
	all := [][]byte{original[:1], original[:len(original)-8], make([]byte, len(original))}
	for i := range 8 { // of the last bytes, the trailer is among them
		forged := bytes.Clone(original)
		forged[len(forged)-1-i] = byte(rng.Intn(256))
		all = append(all, forged)
	}
	random := bytes.Clone(original)
	rng.Read(random[:len(random)-1])
	return append(all, random)
}

// forger is a policy that builds the same filter of whatever keys. It reads filters as they are.
type forger struct {
	policy.Policy
	filter []byte
}

func (f *forger) NewBuilder() policy.Builder {
	return forgingBuilder{f.Policy.NewBuilder(), f.filter}
}

type forgingBuilder struct {
	policy.Builder
	filter []byte
}

func (b forgingBuilder) Finish(dst []byte) []byte { return append(dst, b.filter...) }

// lostWith writes a table of keys whose filter is forged, and returns how many of the keys the
// database denies.
func lostWith(
	t testing.TB, target Target, p policy.Policy, keys [][]byte, filter []byte,
) (lost int) {
	db, err := target.Volatile(t).Open(enginetest.Setting{
		Still: true, Large: true, Policies: []policy.Policy{&forger{p, filter}}})
	require.NoError(t, err)
	var changes []enginetest.Change
	for _, key := range keys {
		changes = append(changes, enginetest.Change{Key: key, Value: value(1)})
	}
	require.NoError(t, db.Apply(0, changes))
	require.NoError(t, db.Flush())
	for _, key := range keys {
		entries, err := db.Seek(key)
		require.NoError(t, err)
		value, err := db.Find(key)
		require.NoError(t, err)
		if len(entries) == 0 || value == nil {
			lost++
		}
	}
	require.NoError(t, db.Close())
	return lost
}
