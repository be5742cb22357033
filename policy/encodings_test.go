package policy

import (
	"bytes"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

// ourReader is what all policies of this package and a Counted can do.
type ourReader interface {
	Policy
	MayContainMany(filter []byte, keys [][]byte, out []bool)
}

// ourPolicy is what all policies of this package can do.
type ourPolicy interface {
	ourReader
	AppendFilter(dst []byte, keys [][]byte) []byte
	FilterSize(n int) uint64
}

// readers returns policies of all encodings, with settings that no filter of the tests has.
func readers() []ourPolicy {
	return []ourPolicy{policytest.Must(NewBloom(7)), policytest.Must(NewRibbon(8.77))}
}

// forEachPolicy runs f for a policy of every encoding.
func forEachPolicy(t *testing.T, f func(t *testing.T, p ourPolicy)) {
	for _, p := range readers() {
		t.Run(fmt.Sprintf("%T", p), func(t *testing.T) { f(t, p) })
	}
}

// references build filters of each kind as FORMAT.md says.
var references = map[string]func(bitsPerKey float64, keys [][]byte) []byte{
	"bloom": referenceFilter, "tuned": referenceTuned, "ribbon": referenceRibbon,
}

// of returns a policy of a kind.
func (k Kind) of(bitsPerKey float64, opts ...Option) (ourPolicy, error) {
	p, err := FromString(fmt.Sprintf("%s:%v", k.Name, bitsPerKey), opts...)
	if err != nil {
		return nil, err
	}
	return p.(ourPolicy), nil
}

// referenceTuned leaves only the choice of size and k to the policy.
func referenceTuned(bitsPerKey float64, keys [][]byte) []byte {
	chosen := policytest.Must(NewBloom(bitsPerKey, WithTuning(0.05))).AppendFilter(nil, keys)
	last := len(chosen) - 1
	return referenceBloom(8*uint64(last), int(chosen[last]), keys)
}

func hashesOf(keys [][]byte) []uint64 {
	hashes := make([]uint64, len(keys))
	for i, key := range keys {
		hashes[i] = keyHash(key)
	}
	return hashes
}

func TestNewRibbonRefusesMisuse(t *testing.T) {
	for _, bitsPerKey := range []float64{0, math.Copysign(0, -1), -1, math.NaN(), math.Inf(1),
		math.Inf(-1), math.Nextafter(2, 0), math.Nextafter(40, math.Inf(1))} {
		p, err := NewRibbon(bitsPerKey)
		require.ErrorContains(t, err, "pass a number from 2 to 40", "%v", bitsPerKey)
		require.Nil(t, p)
	}
	for _, name := range []string{"", "none", " a", "a\nb", "rocksdb.BuiltinBloomFilter"} {
		p, err := NewRibbon(10, WithName(name))
		require.ErrorContains(t, err, "pass ", "%q", name)
		require.Nil(t, p)
	}
	p, err := NewRibbon(10, nil)
	require.EqualError(t, err, "policy: an option is nil: leave it out")
	require.Nil(t, p)
	require.Panics(t, func() { Count(p) }, "it is nil")
	for _, bitsPerKey := range []float64{2, 40} {
		_, err := NewRibbon(bitsPerKey)
		require.NoError(t, err)
	}
}

func TestRibbonNames(t *testing.T) {
	require.Equal(t, "leveldb.BuiltinBloomFilter2", policytest.Must(NewRibbon(12)).Name())
	require.Equal(t, "leveldb.BuiltinBloomFilter",
		policytest.Must(NewRibbon(10, WithName(NameGoLevelDB))).Name())
}

// A used builder builds what a fresh one does, appends after what dst contains, clears what lies
// beyond it, and keeps no reference to the memory of the keys. The counts lie around those of a
// chunk of hashes, and large filters come before small ones.
func TestRibbonBuilderStartsOver(t *testing.T) {
	p := policytest.Must(NewRibbon(12))
	rng := policytest.Rand(t, 50)
	used := p.NewBuilder()
	scratch := make([]byte, 40)
	for _, n := range []int{0, 1, 5000, 7, 0, 3, 4, 1500, 2047, 2048, 2049, 30,
		50_000, 1000, 6144} {
		keys := policytest.Keys(rng, n)
		for i, key := range keys {
			require.Equal(t, i, used.Len())
			used.Add(scratch[:copy(scratch, key)])
		}
		want := referenceRibbon(12, keys)
		require.Equal(t, uint64(len(want)), p.FilterSize(n))

		dirty := bytes.Repeat([]byte{0xff}, rng.Intn(2*len(want)))
		prefix := rng.Intn(len(dirty) + 1)
		got := used.Finish(dirty[:prefix])
		require.True(t, bytes.Equal(append(bytes.Repeat([]byte{0xff}, prefix), want...), got),
			"%d keys", n)
		require.Zero(t, used.Len())
	}
}

// Builders share memory through a pool, also with AppendFilter: filters made side by side, some
// builders abandoned half way, must not mix.
func TestRibbonBuildersSideBySide(t *testing.T) {
	p := policytest.Must(NewRibbon(12))
	var done sync.WaitGroup
	for worker := range int64(8) {
		done.Add(1)
		rng := policytest.Rand(t, 200+worker)
		go func() {
			defer done.Done()
			for range 10 {
				keys := policytest.Keys(rng, rng.Intn(5000))
				builder, abandoned := p.NewBuilder(), p.NewBuilder()
				for _, key := range keys {
					abandoned.Add(key)
					builder.Add(key)
				}
				appended, filter := p.AppendFilter(nil, keys), builder.Finish(nil)
				want := referenceRibbon(12, keys)
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
}

// A filter of an encoding that this package does not know may contain every key, whatever its
// bytes are. 0x62 and 0x71 were other encodings before the first release; of 0x72, ribbon, these
// bytes are damaged filters.
func TestUnknownEncodingsMayContainAll(t *testing.T) {
	keys := [][]byte{nil, []byte("key"), make([]byte, 300)}
	keys = append(keys, policytest.Keys(policytest.Rand(t, 58), fewKeys)...)
	for last := maxProbes + 1; last < 256; last++ {
		for _, size := range []int{2, 3, 4, 11, 1347, 1350} {
			filter := append(make([]byte, size-1), byte(last))
			require.NotContains(t,
				requireSameAnswers(t, fmt.Sprintf("0x%02x", last), filter, keys), false)
		}
	}
	// The filter of "hello" that was a sound one of the encoding 0x62, and denied most keys.
	former := []byte{0x2f, 0x04, 0x06, 0x58, 0x62}
	require.NotContains(t, requireSameAnswers(t, "former", former, keys), false)
}

// Whichever bit of a trailer is flipped, a filter loses no key; and where the trailer can tell, it
// may contain every key: no single flip makes a k of the last byte.
func TestFlippedTrailers(t *testing.T) {
	absent := policytest.AbsentKeys(200)
	p := policytest.Must(NewRibbon(12))
	rng := policytest.Rand(t, 59)
	for _, n := range []int{8, 36, 500, 3000} { // fewer have no trailer
		keys := policytest.Keys(rng, n)
		filter := p.AppendFilter(nil, keys)
		info, err := Parse(filter)
		require.NoError(t, err)
		for bit := 8 * len(info.Payload); bit < 8*len(filter); bit++ {
			flipped := bytes.Clone(filter)
			flipped[bit/8] ^= 1 << (bit % 8)
			answers := requireSameAnswers(t, "flipped", flipped, append(keys[:n:n], absent...))
			require.NotContains(t, answers, false, "%d keys, bit %d", n,
				bit-8*len(info.Payload))
			_, err := Parse(flipped)
			require.Error(t, err)
		}
	}
}

// Two bytes of a trailer that are both wrong pass the check once in 256 times.
func TestDamagedTrailers(t *testing.T) {
	const trials = 100_000
	rng := policytest.Rand(t, 60)
	passed := 0
	for range trials {
		filter := ribbonTrailer(make([]byte, 500+rng.Intn(600)), 513, 0)
		n := len(filter)
		filter[n-4] = byte(rng.Int()) // 512 to 767 slots
		filter[n-2] = byte(rng.Int())
		if _, err := Parse(filter); err == nil {
			passed++
		}
	}
	// Five standard errors.
	const expected, slack = trials / 256.0, 5 * 19.8
	require.InDelta(t, expected, passed, slack)
}

// The answer to a filter of less than 2 bytes is LevelDB's, whatever the byte.
func TestRibbonShorterThanTwoBytes(t *testing.T) {
	for _, filter := range [][]byte{nil, {}, {0x62}, {0x72}} {
		require.Equal(t, []bool{false},
			requireSameAnswers(t, fmt.Sprintf("% x", filter), filter, [][]byte{[]byte("key")}))
	}
}

func TestRibbonAllocations(t *testing.T) {
	p := policytest.Must(NewRibbon(12))
	for _, n := range []int{2, 50, 10000} {
		keys := policytest.Keys(policytest.Rand(t, 55), n)
		filter := p.AppendFilter(nil, keys)
		out := make([]bool, n)
		require.Zero(t, testing.AllocsPerRun(10, func() {
			for _, key := range keys {
				p.MayContain(filter, key)
				MayContain(filter, key)
			}
		}), "MayContain")
		require.Zero(t, testing.AllocsPerRun(10,
			func() { p.MayContainMany(filter, keys, out) }), "MayContainMany")
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
		require.LessOrEqual(t, testing.AllocsPerRun(100, func() { p.AppendFilter(dst, keys) }),
			6.0, "AppendFilter")
	}
}

func TestRibbonCounted(t *testing.T) {
	rng := policytest.Rand(t, 56)
	p := policytest.Must(NewRibbon(12, WithName("mine")))
	c := Count(p)
	require.Equal(t, "mine", c.Name())
	require.Same(t, p, c.Unwrap())
	present, absent := policytest.Keys(rng, 2000), policytest.AbsentKeys(2000)
	builder := c.NewBuilder()
	for _, key := range present {
		builder.Add(key)
	}
	filter := builder.Finish([]byte("before"))[len("before"):]
	require.Equal(t, referenceRibbon(12, present), filter)
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

// Policies of all encodings find the keys in each other's filters, so they may share a name and a
// database.
func TestEncodingsCompatible(t *testing.T) {
	rng := policytest.Rand(t, 57)
	for _, n := range []int{1, 30, 3000} {
		keys, absent := policytest.Keys(rng, n), policytest.AbsentKeys(1000)
		for _, p := range readers() {
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
