package policy

import (
	"bytes"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// The least and the most bits per key of each kind, and what others are refused with.
func TestConstructorsRefuseMisuse(t *testing.T) {
	for _, c := range []struct {
		kind        string
		least, most float64
		want        string
	}{
		{"bloom", 1, 1000, "pass a number from 1 to 1000, usually 10; for a rate"},
		{"tuned", 1, 1000, "pass a number from 1 to 1000, usually 10; for a rate"},
		{"ribbon", 2, 40, "pass a number from 2 to 40, usually 10; for a rate"},
	} {
		for _, bitsPerKey := range []float64{0, 0.01, math.Copysign(0, -1), -10, math.NaN(), math.Inf(1),
			math.Inf(-1), math.Nextafter(c.least, 0), math.Nextafter(c.most, math.Inf(1)),
			math.MaxFloat64} {
			_, err := of(c.kind, bitsPerKey)
			require.ErrorContains(t, err, c.want, "%v", bitsPerKey)
		}
		for _, bitsPerKey := range []float64{c.least, c.most} {
			_, err := of(c.kind, bitsPerKey)
			require.NoError(t, err)
		}
		for _, name := range []string{"", "none", " a", "a ", "\ta", "a\nb", "a\rb", "a\u00a0",
			"rocksdb.BuiltinBloomFilter"} {
			_, err := of(c.kind, 10, WithName(name))
			require.ErrorContains(t, err, "pass ", "%q", name)
		}
	}
	bloom, err := NewBloom(0.01) // meant as a rate
	require.EqualError(t, err, "policy: 0.01 bits per key: pass a number from 1 to 1000, usually 10; "+
		"for a rate of false positives, BitsFor returns one")
	require.Nil(t, bloom)
	ribbon, err := NewRibbon(10, Option{})
	require.EqualError(t, err, "policy: an option is a zero value: leave it out")
	require.Nil(t, ribbon)
	_, err = NewRibbon(10, WithTuning())
	require.ErrorContains(t, err, "ribbon filters need no tuning: leave it out")
}

// A zero value and a nil pointer say what to do when they are configured or build.
func TestZeroValues(t *testing.T) {
	failed, err := NewBloom(0)
	require.Error(t, err)
	for _, p := range []*Policy{failed, nil, {}} {
		require.ErrorContains(t, p.Check(), "get one from a constructor such as policy.NewRibbon")
		for _, call := range []func(){
			func() { p.NewBuilder() }, func() { p.NewDistinctBuilder() },
			func() { p.AppendFilter(nil, nil) }, func() { p.FilterSize(1) }, func() { p.FPP(1) },
		} {
			require.PanicsWithValue(t, errUnusable, call)
		}
	}
	for _, p := range readers {
		require.NoError(t, p.Check())
	}
}

// A used builder builds what a fresh one does. The counts lie around those of a chunk of hashes,
// and large filters come before small ones. The settings have every k, and parts of bits.
func TestBuilderStartsOver(t *testing.T) {
	settings := map[string][]float64{"tuned": {12}, "ribbon": {12}, "bloom": {
		12, 1.45, 1.5, 2.2, 2.9, 9.5, 9.75, 13.37, 43.4, 43.5, 100.25}}
	for k := 1; k <= 45; k++ {
		settings["bloom"] = append(settings["bloom"], float64(k))
	}
	rng := testkit.Rand(t, 3)
	for _, kind := range allKinds {
		for _, bitsPerKey := range settings[kind] {
			counts := []int{0, 1, 5000, 7, 0, 3, 4, 2047, 2048, 2049, 4096, 4097, 30, 12_288}
			if bitsPerKey != 12 {
				counts = []int{0, 600, 1, 37}
			}
			p := testkit.Must(of(kind, bitsPerKey))
			used := p.NewBuilder()
			for _, n := range counts {
				before := make([]byte, rng.Intn(100))
				requireBuilds(t, kind, p, used, testkit.Keys(rng, n), before)
			}
		}
	}
}

// Builders share memory through pools: filters that are built side by side, some builders abandoned
// half way, must not mix. Every answer and every finished filter is counted, and nothing else.
func TestBuildersSideBySide(t *testing.T) {
	const workers, filters, keysEach, lookups = 8, 3, 5000, 100_000
	for _, kind := range allKinds {
		p := testkit.Must(of(kind, 10, WithCounters()))
		var done sync.WaitGroup
		for worker := range int64(workers) {
			done.Add(1)
			rng := testkit.Rand(t, 100+worker)
			go func() {
				defer done.Done()
				for range lookups {
					p.MayContain([]byte{0xff, 0xff}, nil)
					p.MayContain(nil, nil)
				}
				for range filters {
					keys := testkit.Keys(rng, keysEach)
					builder, abandoned := p.NewBuilder(), p.NewBuilder()
					for _, key := range keys {
						abandoned.Add(key)
						builder.Add(key)
					}
					filter := builder.Finish([]byte("before"))[len("before"):]
					if !bytes.Equal(references[kind](10, keys), filter) {
						t.Errorf("worker %d: a filter of %d keys differs", worker, len(keys))
					}
				}
			}()
		}
		done.Wait()
		require.Equal(t, Counters{
			Absent:     workers * lookups,
			MayContain: workers * lookups,
			Filters:    workers * filters,
			Keys:       workers * filters * keysEach,
			Bytes:      workers * filters * p.FilterSize(keysEach),
		}, p.Counters())
	}
}

// Lookups allocate nothing, and builders little.
func TestAllocations(t *testing.T) {
	for _, kind := range allKinds {
		p := testkit.Must(of(kind, 12))
		for _, n := range []int{2, 50, 10_000} {
			keys := testkit.Keys(testkit.Rand(t, 55), n)
			filter := p.AppendFilter(nil, keys)
			for _, r := range []*Policy{p, testkit.Must(of(kind, 12, WithCounters()))} {
				require.Zero(t, testing.AllocsPerRun(10, func() {
					for _, key := range keys {
						r.MayContain(filter, key)
						MayContain(filter, key)
					}
				}), "%s, %d keys", kind, n)
			}
			if testkit.Race {
				continue // the race detector makes sync.Pool drop what it is given
			}
			dst := make([]byte, 0, 2*len(filter))
			build := func(builder Builder) {
				for _, key := range keys {
					builder.Add(key)
				}
				builder.Finish(dst)
			}
			// The builder and its list of chunks.
			require.LessOrEqual(t, testing.AllocsPerRun(100, func() { build(p.NewBuilder()) }), 6.0,
				"%s, %d keys, a new builder, warm pool", kind, n)
			used := p.NewBuilder()
			require.LessOrEqual(t, testing.AllocsPerRun(100, func() { build(used) }), 1.0,
				"%s, a used builder (a collection may empty the pool once)", kind)
		}
	}
}
