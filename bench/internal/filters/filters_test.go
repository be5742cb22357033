package filters

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

func kind(t testing.TB, name string) (k Kind) {
	require.NoError(t, k.UnmarshalText([]byte(name)))
	return k
}

// Names are policy.FromString's, with a plus sign before options, and bits only where they differ.
// Only ribbon promises a rate, with up to 20 bits.
func TestKinds(t *testing.T) {
	for name, want := range map[string]string{
		"bloom": "bloom:9.5", "bloom:7": "bloom:7", "ribbon": "ribbon:9.5",
		"bloom+tuned": "bloom:9.5,tuned", "bloom:12+tuned": "bloom:12,tuned",
	} {
		require.Equal(t, want, testkit.Must(PolicyOf(name, 9.5)).String())
	}
	require.Equal(t, 1.05*testkit.Must(policy.NewRibbon(7)).FPP(9), kind(t, "ribbon:7").Bound(9))
	require.Zero(t, kind(t, "ribbon:21").Bound(9)+kind(t, "bloom").Bound(9))
}

// Work of other threads is not in a thread's time.
func TestClockOfThread(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the clock is that on the wall")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const others = 10 * time.Millisecond
	start, done := Now(), make(chan bool)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with it
		for began := Now(); Now()-began < others; {
		}
		close(done)
	}()
	<-done
	require.Less(t, Now()-start, others)
}

// Filters of 100 million keys have about the FPP that package policy computes. goleveldb's own have
// levelbloom's bytes. Pebble's have other probes, but also 32-bit hashes: in both formats 2.3 % of
// the absent keys have the hash of a key.
func TestLarge(t *testing.T) {
	testkit.Large(t)
	const n, asked = 100_000_000, 1_000_000
	each := func(first, step uint64, number int, do func([][]byte)) {
		for i := range uint64(number) {
			do([][]byte{keys.Shapes[0].Key(1<<40, first+step*i)})
		}
	}
	for _, name := range []string{"ribbon", "bloom", "goleveldb", "pebblev2"} {
		p := kind(t, name).New()
		each(0, 1, n, p.Add)
		filter, present, positives := p.Finish(nil), 0, 0
		each(0, n/asked, asked, func(all [][]byte) { present += p.Count(filter, all) })
		require.Equal(t, asked, present, "%s lost keys", name)
		each(n, 1, asked, func(all [][]byte) { positives += p.Count(filter, all) })
		rate := float64(positives) / asked
		t.Logf("%s: %s %% in %d bytes", name, report.Digits(100*rate), len(filter))
		like, tolerance := "bloom:10", 0.0015 // FPP ignores that present keys share hashes, too
		if name == "ribbon" {
			like, tolerance = "ribbon:10", 0
		}
		fpp := testkit.Must(policy.FromString(like)).FPP(n)
		require.InDelta(t, fpp, rate, tolerance+5*math.Sqrt(rate/asked), name)
	}
}

// BenchmarkFilters compares filters, as engines call them, with goleveldb's own: its time per key,
// and the others' as a multiple of that. Filters take turns. A round gives each one, and goleveldb's
// a second, "again", whose distance from 1 is noise. Figures are medians of rounds, and times are of
// the thread. A turn has 65,536 random keys or more, as a branch predictor learns the answers to
// few, and does its work twice: caches then do not depend on whose turn was before.
// Filters have 10 bits per key. The engines' own also have more, to compare at equal false
// positives: "size" has these, in per cent, and the bits per key that filters take.
//
//	go test ./bench/internal/filters -run '^$' -bench Filters -benchtime 31x
func BenchmarkFilters(b *testing.B) {
	names := []string{"goleveldb", "goleveldb:15", "pebblev2", "pebblev2:16", "bloom", "ribbon",
		"again"}
	for _, n := range []int{36, 500, 10_000, 1_000_000} {
		count := (1<<16 + n - 1) / n * n
		all, _ := keys.ShapesOf("random")[0].Draw(rand.New(rand.NewPCG(1, 1)), true, 2*count, 0)
		policies, filters := make([]*Policy, len(names)), make([][][]byte, len(names))
		kinds := make([]Kind, len(names))
		do := func(i int, work string) (found int) {
			for f := range filters[i] {
				switch part := all[f*n : (f+1)*n]; work {
				case "build":
					policies[i].Add(part)
					filters[i][f] = policies[i].Finish(filters[i][f][:0])
				case "hit":
					found += policies[i].Count(filters[i][f], part)
				case "miss":
					policies[i].Count(filters[i][f], all[count+f*n:count+(f+1)*n])
				}
			}
			return found
		}
		for i, name := range names {
			kinds[i] = kind(b, strings.Replace(name, "again", "goleveldb", 1))
			policies[i], filters[i] = kinds[i].New(), make([][]byte, count/n)
			do(i, "build")
			require.Equal(b, count, do(i, "hit"), "%s lost keys", name)
		}
		rates, err := MeasureRates(kinds[:6], keys.ShapesOf("random"), []int{n}, 1_000_000, silent)
		require.NoError(b, err)
		b.Run(fmt.Sprintf("size/n=%d", n), func(b *testing.B) {
			b.ReportMetric(0, "ns/op")
			for _, r := range rates {
				b.ReportMetric(r.bitsPerKey(), r.Kind+"-bits/key")
				b.ReportMetric(100*r.FPR, r.Kind+"-fp%")
			}
		})
		for _, work := range []string{"build", "hit", "miss"} {
			b.Run(fmt.Sprintf("%s/n=%d", work, n), func(b *testing.B) {
				runtime.LockOSThread() // its clock is read
				defer runtime.UnlockOSThread()
				times := make([][]float64, len(names)) // by round
				for range b.N {
					for _, i := range rand.Perm(len(names)) {
						do(i, work)
						start := Now()
						do(i, work)
						times[i] = append(times[i], float64(Now()-start))
					}
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(report.Median(times[0])/float64(count), "ns/key")
				for i, name := range names[1:] {
					for round, goleveldb := range times[0] {
						times[i+1][round] /= goleveldb
					}
					b.ReportMetric(report.Median(times[i+1]), name)
				}
			})
		}
	}
}
