package policy

import (
	"bytes"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// What holds for every encoding of the reserved range.

// ourPolicy is what all policies of this package can do.
type ourPolicy interface {
	Policy
	BatchReader
	AppendFilter(dst []byte, keys [][]byte) []byte
	FilterSize(n int) uint64
}

// readers returns policies of all encodings, with settings that no filter of the tests has.
func readers(t testing.TB) []ourPolicy {
	return []ourPolicy{mustBloom(t, 7), mustBlocked(t, 30.123)}
}

// encodings are the reserved range's. reference makes filters as the text says.
var encodings = []struct {
	name      string
	make      func(bitsPerKey float64, opts ...Option) (ourPolicy, error)
	reference referenceMaker
}{
	{"blocked", maker(NewBlockedBloom), referenceBlocked},
}

type referenceMaker func(bitsPerKey float64, keys [][]byte) []byte

func maker[P ourPolicy](f func(float64, ...Option) (P, error)) func(float64, ...Option) (ourPolicy, error) {
	return func(bitsPerKey float64, opts ...Option) (ourPolicy, error) { return f(bitsPerKey, opts...) }
}

// forEachEncoding runs f for every one, with a policy of 12 bits per key.
func forEachEncoding(t *testing.T, f func(t *testing.T, p ourPolicy, reference referenceMaker)) {
	for _, e := range encodings {
		t.Run(e.name, func(t *testing.T) {
			p, err := e.make(12)
			require.NoError(t, err)
			f(t, p, e.reference)
		})
	}
}

func hashesOf(keys [][]byte) []uint64 {
	hashes := make([]uint64, len(keys))
	for i, key := range keys {
		hashes[i] = keyHash(key)
	}
	return hashes
}

func TestNewReservedRefusesMisuse(t *testing.T) {
	for _, e := range encodings {
		for _, bitsPerKey := range []float64{0, math.Copysign(0, -1), -1, math.NaN(), math.Inf(1), math.Inf(-1), math.Nextafter(1<<30, math.Inf(1))} {
			p, err := e.make(bitsPerKey)
			require.ErrorContains(t, err, "pass a number above 0 and at most 2^30", "%v", bitsPerKey)
			require.Nil(t, p)
		}
		for _, name := range []string{"", "none", " a", "a\nb", "rocksdb.BuiltinBloomFilter"} {
			p, err := e.make(10, WithName(name))
			require.ErrorContains(t, err, "pass ", "%q", name)
			require.Nil(t, p)
		}
		p, err := e.make(10, nil)
		require.EqualError(t, err, "policy: an option is nil: leave it out")
		require.Nil(t, p)
		require.Panics(t, func() { Count(p) }, "it is nil")
		for _, bitsPerKey := range []float64{math.SmallestNonzeroFloat64, 1 << 30} {
			_, err := e.make(bitsPerKey)
			require.NoError(t, err)
		}
	}
}

func TestReservedNames(t *testing.T) {
	forEachEncoding(t, func(t *testing.T, p ourPolicy, _ referenceMaker) {
		require.Equal(t, "leveldb.BuiltinBloomFilter2", p.Name())
	})
	for _, e := range encodings {
		p, err := e.make(10, WithName(NameGoLevelDB))
		require.NoError(t, err)
		require.Equal(t, "leveldb.BuiltinBloomFilter", p.Name())
	}
}

// A used builder makes what a fresh one makes, appends after what dst holds, clears what lies beyond it, and keeps no
// reference to the memory of the keys. The counts lie around those of a chunk of hashes and of the longest single line, and
// large filters come before small ones.
func TestReservedBuilderStartsOver(t *testing.T) {
	forEachEncoding(t, func(t *testing.T, p ourPolicy, reference referenceMaker) {
		rng := seeded(t, 50)
		used := p.NewBuilder()
		scratch := make([]byte, 40)
		for _, n := range []int{0, 1, 5000, 7, 0, 853, 854, 1500, 2047, 2048, 2049, 30, 50_000, 1000, 6144} {
			keys := randomKeys(rng, n)
			for i, key := range keys {
				require.Equal(t, i, used.Len())
				used.Add(scratch[:copy(scratch, key)])
			}
			want := reference(12, keys)
			require.Equal(t, uint64(len(want)), p.FilterSize(n))

			dirty := bytes.Repeat([]byte{0xff}, rng.Intn(2*len(want)))
			prefix := rng.Intn(len(dirty) + 1)
			got := used.Finish(dirty[:prefix])
			require.True(t, bytes.Equal(append(bytes.Repeat([]byte{0xff}, prefix), want...), got), "%d keys", n)
			require.Zero(t, used.Len())
		}
	})
}

// Builders share memory through a pool, also with AppendFilter: filters made side by side, some builders abandoned half
// way, must not mix.
func TestReservedBuildersSideBySide(t *testing.T) {
	forEachEncoding(t, func(t *testing.T, p ourPolicy, reference referenceMaker) {
		var done sync.WaitGroup
		for worker := range int64(8) {
			done.Add(1)
			rng := seeded(t, 200+worker)
			go func() {
				defer done.Done()
				for range 20 {
					keys := randomKeys(rng, rng.Intn(5000))
					builder, abandoned := p.NewBuilder(), p.NewBuilder()
					for _, key := range keys {
						abandoned.Add(key)
						builder.Add(key)
					}
					appended, filter := p.AppendFilter(nil, keys), builder.Finish(nil)
					want := reference(12, keys)
					if !bytes.Equal(want, filter) || !bytes.Equal(want, appended) {
						t.Errorf("worker %d: a filter of %d keys differs", worker, len(keys))
					}
					for _, key := range keys {
						if !p.MayContain(filter, key) {
							t.Errorf("worker %d: key %x is lost", worker, key)
						}
					}
				}
			}()
		}
		done.Wait()
	})
}

// A filter without any bit has no key, unless it is one that this package does not know: then it may contain all.
func TestUnknownEncodingsMayContainAll(t *testing.T) {
	keys := [][]byte{nil, []byte("key"), make([]byte, 300)}
	keys = append(keys, randomKeys(seeded(t, 58), fewKeys)...)
	require.NotContains(t, requireSameAnswers(t, "known", append(make([]byte, 8), 6, 1, 0x42), keys), true)
	requireAll := func(filter []byte) {
		require.NotContains(t, requireSameAnswers(t, fmt.Sprintf("% x", filter[max(0, len(filter)-8):]), filter, keys), false)
	}
	for last := maxProbes + 1; last < 256; last++ {
		if last != blockedBloomByte {
			for _, size := range []int{2, 3, 4, 11, 1347, 1350} {
				requireAll(append(make([]byte, size-1), byte(last)))
			}
		}
	}
	for version := range 256 {
		if version != blockedVersion {
			for _, size := range []int{0, 1, 25, 1280, 1344, 6400} {
				requireAll(append(make([]byte, size), 6, byte(version), 0x42))
			}
		}
	}
	for size := 1281; size < 1600; size++ {
		if size%64 != 0 {
			requireAll(append(make([]byte, size), 6, 1, 0x42))
		}
	}
	requireAll([]byte{6, 1, 0x42})
	requireAll([]byte{1, 0x42})
	requireAll([]byte{0x42, 0x42})
}

// The answer to a filter of less than 2 bytes is LevelDB's, whatever the byte.
func TestReservedShorterThanTwoBytes(t *testing.T) {
	for _, filter := range [][]byte{nil, {}, {0x42}} {
		require.Equal(t, []bool{false}, requireSameAnswers(t, fmt.Sprintf("% x", filter), filter, [][]byte{[]byte("key")}))
	}
}

func TestReservedAllocations(t *testing.T) {
	forEachEncoding(t, func(t *testing.T, p ourPolicy, _ referenceMaker) {
		for _, n := range []int{50, 10000} {
			keys := randomKeys(seeded(t, 55), n)
			filter := p.AppendFilter(nil, keys)
			out := make([]bool, n)
			require.Zero(t, testing.AllocsPerRun(10, func() {
				for _, key := range keys {
					p.MayContain(filter, key)
					MayContain(filter, key)
				}
			}), "MayContain")
			require.Zero(t, testing.AllocsPerRun(10, func() { p.MayContainMany(filter, keys, out) }), "MayContainMany")
			if raceEnabled {
				continue // the race detector makes sync.Pool drop what it is given
			}
			dst := make([]byte, 0, len(filter))
			require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
				builder := p.NewBuilder()
				for _, key := range keys {
					builder.Add(key)
				}
				builder.Finish(dst)
			}), 6.0, "a new builder, warm pool: the builder and its list of chunks")
			builder := p.NewBuilder()
			require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
				for _, key := range keys {
					builder.Add(key)
				}
				builder.Finish(dst)
			}), 1.0, "a used builder (a collection may empty the pool once)")
			// AppendFilter may have a builder of its own.
			require.LessOrEqual(t, testing.AllocsPerRun(100, func() { p.AppendFilter(dst, keys) }), 6.0, "AppendFilter")
		}
	})
}

func TestReservedCounted(t *testing.T) {
	for _, e := range encodings {
		rng := seeded(t, 56)
		p, err := e.make(12, WithName(e.name))
		require.NoError(t, err)
		c := Count(p)
		require.Equal(t, e.name, c.Name())
		require.Same(t, p, c.Unwrap())
		present, absent := randomKeys(rng, 2000), absentKeys(2000)
		builder := c.NewBuilder()
		for _, key := range present {
			builder.Add(key)
		}
		filter := builder.Finish([]byte("before"))[len("before"):]
		require.Equal(t, e.reference(12, present), filter)
		require.Equal(t, Counters{Filters: 1, Keys: 2000, Bytes: uint64(len(filter))}, c.Snapshot())

		before, want := c.Snapshot(), Counters{}
		for _, key := range append(present[:2000:2000], absent...) {
			if referenceMayContain(filter, key) {
				want.MayContain++
			} else {
				want.ReadsAvoided++
			}
			require.Equal(t, referenceMayContain(filter, key), c.MayContain(filter, key))
		}
		require.Equal(t, want, c.Snapshot().Sub(before))
		require.Greater(t, want.ReadsAvoided, uint64(1900))

		before = c.Snapshot()
		c.MayContainMany(filter, append(present[:2000:2000], absent...), make([]bool, 4000))
		require.Equal(t, want, c.Snapshot().Sub(before))
	}
}

// absentKeys returns keys that are longer than those of randomKeys.
func absentKeys(n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "absent key %d, longer than any of the others", i)
	}
	return keys
}

// Policies of all encodings find the keys in each other's filters, so they may share a name and a database.
func TestEncodingsCompatible(t *testing.T) {
	var all []Policy
	for _, bitsPerKey := range []float64{1.5, 10, 19} {
		exact, blocked := mustBloom(t, bitsPerKey), mustBlocked(t, bitsPerKey)
		all = append(all, exact, blocked, Count(exact), Count(blocked))
	}
	for _, a := range all {
		for _, b := range all {
			require.True(t, Compatible(a, b), "%T and %T", a, b)
		}
	}
	for _, e := range encodings {
		p, err := e.make(10)
		require.NoError(t, err)
		require.False(t, Compatible(p, absentPolicy{mustBloom(t, 10)}))
		require.False(t, Compatible(absentPolicy{p}, mustBloom(t, 10)))
	}

	rng := seeded(t, 57)
	for _, n := range []int{1, 30, 3000} {
		keys, absent := randomKeys(rng, n), absentKeys(1000)
		for _, p := range readers(t) {
			filter := p.AppendFilter(nil, keys)
			require.NotContains(t, requireSameAnswers(t, "all encodings", filter, keys), false)
			found := 0
			for _, answer := range requireSameAnswers(t, "all encodings", filter, absent) {
				if answer {
					found++
				}
			}
			require.Less(t, found, 100, "a filter that is not read answers 1000")
		}
	}
}
