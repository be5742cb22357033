package filters

import (
	"bytes"
	"context"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

func kind(t *testing.T, spec string) Kind {
	k, err := FromString(spec, 10)
	require.NoError(t, err)
	return k
}

// changed returns bloom:10 under another name, with changed policies.
func changed(t *testing.T, name string, change func(*Policy)) Kind {
	k := kind(t, "bloom")
	newPolicy := k.New
	k.Name = name
	k.New = func() *Policy {
		p := newPolicy()
		change(p)
		return p
	}
	return k
}

func silent(int, int, string) {}

// Every contestant has one turn in each round and the first one two, in an order that changes. In a
// turn it adds all keys, or looks all up, and before that once more.
func TestTurns(t *testing.T) {
	const n, filters = 10_000, 7
	turns, different := "", map[string]bool{}
	noting := func(name string) Kind {
		return changed(t, name, func(p *Policy) {
			add, count := p.Add, p.Count
			p.Add = func(part [][]byte) {
				turns += name
				add(part)
			}
			p.Count = func(filter []byte, part [][]byte) int {
				turns += name
				for _, key := range part {
					different[string(key)] = true
				}
				return count(filter, part)
			}
		})
	}
	kinds := []Kind{noting("a"), noting("b")}
	speeds, err := CompareSpeeds(context.Background(), kinds, []int{n}, silent)
	require.NoError(t, err)
	require.Len(t, speeds, 3*3)
	require.Len(t, different, 2*filters*n, "the present keys, and as many absent ones")
	require.Len(t, turns, 3*Rounds*3*2*filters)
	orders := map[string]bool{}
	for round := range slices.Chunk([]byte(turns), 3*2*filters) {
		require.Equal(t, 2*filters, bytes.Count(round, []byte("b")))
		orders[string(round)] = true
	}
	require.Len(t, orders, 3, "b is the first, the second or the third one")
}

// A lost key ends the run, and what was measured before is returned. Absent keys may be excluded.
func TestLostKeys(t *testing.T) {
	kinds := []Kind{kind(t, "pebblev2"), changed(t, "losing", func(p *Policy) {
		p.Count = func(_ []byte, all [][]byte) int { return len(all) - 1 }
	})}
	speeds, err := CompareSpeeds(context.Background(), kinds, []int{100_000}, silent)
	require.EqualError(t, err, "losing, 100000 keys: a key is lost")
	require.Len(t, speeds, 3)
	_, err = MeasureRates(context.Background(), kinds, decimals[:1], []int{8}, 9, silent)
	require.EqualError(t, err, "losing, 8 decimal keys: a key is lost: 1 of 8")
	require.ErrorIs(t, err, keys.ErrLost)
}

// Times are those of the work, of each key, and ratios are to the first kind.
func TestSpeeds(t *testing.T) {
	var clock time.Duration
	now = func() time.Duration { return clock }
	defer func() { now = Now }()
	taking := func(name string, perKey time.Duration) Kind {
		return changed(t, name, func(p *Policy) {
			p.Add = func(all [][]byte) { clock += time.Duration(len(all)) * 3 * perKey }
			p.Count = func(_ []byte, all [][]byte) int {
				clock += time.Duration(len(all)) * perKey
				return len(all)
			}
		})
	}
	speeds, err := CompareSpeeds(context.Background(),
		[]Kind{taking("slow", 100), taking("fast", 20)}, []int{40_000}, silent)
	require.NoError(t, err)
	ns := map[string]float64{"slow": 100, "slow-again": 100, "fast": 20}
	for _, s := range speeds {
		want := ns[s.Contestant]
		require.Equal(t, ns["slow"]/want, s.Ratio, "%+v", s)
		if s.Work == "build" {
			want *= 3
		}
		require.Equal(t, want, s.Ns, "%+v", s)
	}
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

// Medians of 15 rounds, and the ratios of the fourth lowest and highest.
func TestCompare(t *testing.T) {
	var s Speed
	var times, base []float64
	for round := range 15 {
		slow := float64(1 + 7*round%15) // what slows both down
		times = append(times, 10*slow)
		base = append(base, 10*slow*float64(round+1))
	}
	s.compare(times, base)
	require.Equal(t, Speed{Ns: 80, Ratio: 8, Low: 4, High: 12}, s)
}

// Filters of 100 million keys have about the FPP that package policy computes. goleveldb's own have
// levelbloom's bytes. Pebble's have other probes, but also 32-bit hashes: in both formats 2.3 % of
// the absent keys have the hash of a key.
func TestLarge(t *testing.T) {
	testkit.Large(t)
	const n, asked = 100_000_000, 1_000_000
	each := func(first, step uint64, number int, do func([][]byte)) {
		indexes := make([]uint64, 1000)
		for done := 0; done < number; done += len(indexes) {
			for i := range indexes {
				indexes[i] = first + step*uint64(done+i)
			}
			do(keys.Shapes[0].Keys(indexes, 1<<40))
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
		policy, err := policy.FromString(like)
		require.NoError(t, err)
		require.InDelta(t, policy.FPP(n), rate, tolerance+5*math.Sqrt(rate/asked), name)
	}
}
