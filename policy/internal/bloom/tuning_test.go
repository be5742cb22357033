package bloom

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/policytest"
)

// build returns the filter of keys.
func (s *Setting) build(keys [][]byte) []byte {
	b := NewBuilder(s)
	for _, key := range keys {
		b.Add(key)
	}
	return b.Finish(nil)
}

var tuningChecks = flag.Int("tuning-checks", 300_000,
	"how many present keys to look up in tuned filters; 100000000 takes minutes")

// A tuningShape turns numbers into keys.
type tuningShape struct {
	name string
	key  func(i uint64) []byte
}

var tuningShapes = []tuningShape{
	{"%016d", func(i uint64) []byte { return fmt.Appendf(nil, "%016d", i) }},
	{"user%012d", func(i uint64) []byte { return fmt.Appendf(nil, "user%012d", i) }},
	{"big-endian", func(i uint64) []byte { return binary.BigEndian.AppendUint64(nil, i) }},
	{"acct+big-endian", func(i uint64) []byte {
		return binary.BigEndian.AppendUint64([]byte("acct"), i)
	}},
	{"%015d", func(i uint64) []byte { return fmt.Appendf(nil, "%015d", i) }},
	{"%016x", func(i uint64) []byte { return fmt.Appendf(nil, "%016x", i) }},
	{"%012X", func(i uint64) []byte { return fmt.Appendf(nil, "%012X", i) }},
	{"uuid", func(i uint64) []byte {
		return fmt.Appendf(nil, "01890a5d-ac96-774b-bcce-%012x", i)
	}},
	{"little-endian", func(i uint64) []byte { return binary.LittleEndian.AppendUint64(nil, i) }},
	{"acct:%010d:bal", func(i uint64) []byte { return fmt.Appendf(nil, "acct:%010d:bal", i) }},
	{"row%d", func(i uint64) []byte { return fmt.Appendf(nil, "row%d", i) }},
	{"random", func(i uint64) []byte {
		sum := md5.Sum(binary.BigEndian.AppendUint64(nil, i))
		return sum[:]
	}},
}

func shapeNamed(t testing.TB, name string) tuningShape {
	i := slices.IndexFunc(tuningShapes, func(s tuningShape) bool { return s.name == name })
	require.GreaterOrEqual(t, i, 0)
	return tuningShapes[i]
}

// keys returns n present keys in order, the absent ones among them, and those that follow. density
// is the part of the numbers that are present; 0.5 is exactly every second one.
func (s tuningShape) keys(
	rng *rand.Rand, n int, density float64,
) (present, between, beyond [][]byte) {
	i := uint64(rng.Int63n(1e9))
	for ; len(present) < n; i++ {
		switch {
		case density == 0.5 && i%2 == 0, density != 0.5 && rng.Float64() < density:
			present = append(present, s.key(i))
		case len(present) > 0:
			between = append(between, s.key(i))
		}
	}
	for range max(200, 2*n) {
		beyond = append(beyond, s.key(i))
		i++
	}
	slices.SortFunc(present, bytes.Compare)
	return present, between, beyond
}

func mayContain(filter, key []byte) bool { return HasAll(filter, []uint32{Hash(key)}) }

func falsePositives(filter []byte, absent [][]byte) (n int) {
	for _, key := range absent {
		if mayContain(filter, key) {
			n++
		}
	}
	return n
}

// rates adds up the rates of filters: their errors depend on each other within a filter, not
// between filters.
type rates struct{ n, sum, squares float64 }

func (r *rates) add(found, asked int) {
	if asked > 0 {
		rate := float64(found) / float64(asked)
		r.n++
		r.sum += rate
		r.squares += rate * rate
	}
}

func (r *rates) mean() float64 { return r.sum / r.n }

func (r *rates) stdError() float64 {
	return math.Sqrt(max(0, r.squares/r.n-r.mean()*r.mean())/(r.n-1)) + 1e-4
}

// The false-positive rates of LevelDB's choice and of tuned filters with up to 5 % more memory.
func TestTuningRates(t *testing.T) {
	policytest.Large(t)
	plain := &Setting{BitsPerKey: 10}
	tuned := &Setting{BitsPerKey: 10, Tuning: 0.05}
	expected := math.Pow(1-math.Exp(-6.0/10), 6)
	for _, c := range []struct {
		shape   string
		density float64
		sizes   []int
	}{
		{"%016d", 0.63, []int{20, 36, 51, 66, 100, 500, 2000, 100_000}},
		{"user%012d", 0.63, []int{20, 36, 51, 500}},
		{"%016x", 0.63, []int{36, 51}},
		{"uuid", 0.63, []int{36}},
		{"%015d", 0.63, []int{20, 36, 100}},
		{"acct:%010d:bal", 0.63, []int{36}},
		{"big-endian", 0.63, []int{20, 36, 51, 66, 100, 500, 2000, 100_000}},
		{"acct+big-endian", 0.63, []int{36, 51, 2000}},
		{"little-endian", 0.63, []int{36}},
		{"%016d", 0.5, []int{36, 100}},
		{"big-endian", 0.5, []int{36, 100}},
		{"%016d", 0.1, []int{36, 51}},
		{"big-endian", 0.1, []int{36, 51}},
		{"%016d", 0.01, []int{36}},
		{"random", 0.63, []int{36, 500, 100_000}},
	} {
		for _, n := range c.sizes {
			rng := policytest.Rand(t, int64(n))
			var between, beyond [2]rates
			var random rates
			filters := max(3, min(200, 20_000/n))
			for range filters {
				present, in, after := shapeNamed(t, c.shape).keys(rng, n, c.density)
				others := policytest.AbsentKeys(300)
				for i, p := range []*Setting{plain, tuned} {
					filter := p.build(present)
					between[i].add(falsePositives(filter, in), len(in))
					beyond[i].add(falsePositives(filter, after), len(after))
					if p == tuned {
						random.add(falsePositives(filter, others), len(others))
					}
				}
			}
			what := fmt.Sprintf("%s, density %v, %d keys", c.shape, c.density, n)
			margin := 4 * between[1].stdError()
			switch before, after := between[0].mean(), between[1].mean(); {
			case n >= manyKeys: // no filter is searched for, and the hashes of decimal numbers collide
				require.Less(t, after, 1.25*max(before, expected)+margin, what)
			case before > 3*expected:
				require.Less(t, after, before/2+margin, what)
			default:
				require.Less(t, after, 1.1*max(before, expected)+margin, what)
			}
			if strings.Contains(c.shape, "%") && n < manyKeys {
				require.Less(t, between[1].mean(), 0.015+margin, what+", text")
			}
			require.Less(t, beyond[1].mean(),
				1.1*max(beyond[0].mean(), expected)+4*beyond[1].stdError(), what)
			require.Less(t, random.mean(), 0.02, what)
			require.Positive(t, beyond[1].mean(), what)
		}
	}
}

func TestTuningLosesNoKey(t *testing.T) {
	rng := policytest.Rand(t, 80)
	checks := *tuningChecks
	if testing.Short() {
		checks = 30_000
	}
	for checked := 0; checked < checks; {
		shape := tuningShapes[rng.Intn(len(tuningShapes))]
		bitsPerKey := []float64{1, 4.5, 8, 10, 10, 10, 10, 14, 20, 50}[rng.Intn(10)]
		memory := []float64{0.001, 0.05, 0.05, 0.3, 1}[rng.Intn(5)]
		plain := &Setting{BitsPerKey: bitsPerKey}
		tuned := &Setting{BitsPerKey: bitsPerKey, Tuning: memory}
		builder, dst := NewBuilder(tuned), []byte("before")
		for range 4 { // filters of one builder
			n := int(math.Exp(rng.Float64() * 9)) // up to 8,000
			if rng.Intn(200) == 0 {
				n = manyKeys + rng.Intn(3) - 1
			}
			keys, _, _ := shape.keys(rng, n, []float64{1, 0.9, 0.63, 0.5}[rng.Intn(4)])
			what := fmt.Sprintf("%d keys like %s, %v bits per key, %v more",
				n, shape.name, bitsPerKey, memory)
			var reused []byte
			for i, key := range keys {
				reused = append(reused[:0], key...)
				builder.Add(reused)
				rng.Read(reused)
				if builder.Len() != i+1 {
					require.Fail(t, "Len", "%d after %d keys", builder.Len(), i+1)
				}
			}
			rng.Read(dst[len("before"):cap(dst)])
			dst = builder.Finish(dst[:len("before")])
			require.Equal(t, "before", string(dst[:len("before")]))
			filter := dst[len("before"):]
			require.Equal(t, tuned.build(keys), filter, what+", a new builder")
			size := float64(plain.Size(n))
			require.LessOrEqual(t, float64(len(filter)), size*(1+memory), what)
			require.GreaterOrEqual(t, float64(len(filter)), size*0.9, what)
			k := filter[len(filter)-1]
			require.True(t, 1 <= k && k <= MaxProbes, what)
			for _, key := range keys {
				if !mayContain(filter, key) {
					require.Fail(t, "a lost key", "%x of %s", key, what)
				}
			}
			checked += len(keys)
		}
	}
}

// Where keys have no near neighbors or are not in order, tuned filters have LevelDB's bytes.
func TestTuningKeepsLevelDBsChoice(t *testing.T) {
	rng := policytest.Rand(t, 81)
	plain := &Setting{BitsPerKey: 10}
	tuned := &Setting{BitsPerKey: 10, Tuning: 0.05}
	same := func(what string, keys [][]byte) {
		t.Helper()
		require.Equal(t, plain.build(keys), tuned.build(keys), what)
	}
	same("no keys", nil)
	same("the empty key", [][]byte{{}})
	same("empty keys", slices.Repeat([][]byte{{}}, 100))
	same("one key", [][]byte{[]byte("0000000000000007")})
	same("one key many times", slices.Repeat([][]byte{[]byte("0000000000000007")}, 1000))
	same("highest keys", slices.Repeat([][]byte{{0xff, 0xff}, {0xff, 0xff, 0xff}}, 50))
	for n := 2; n < 300; n++ { // in order up to the last
		keys, _, _ := shapeNamed(t, "big-endian").keys(rng, n, 0.63)
		same("in order five times", slices.Repeat(keys, 5))
		keys[0], keys[1] = keys[1], keys[0]
		same("the first two not in order", keys)
	}
	for n := range 300 {
		keys, _, _ := shapeNamed(t, "random").keys(rng, n, 0.63)
		same("random keys", keys)
		for i := range keys { // of many lengths
			keys[i] = make([]byte, 6+rng.Intn(40))
			rng.Read(keys[i])
		}
		same("random keys, not in order", keys)
		slices.SortFunc(keys, bytes.Compare)
		same("random keys of many lengths", keys)
	}
	for _, shape := range tuningShapes {
		differ, spread := 0, 0
		for range 40 {
			keys, absent, _ := shape.keys(rng, 51, 0.63)
			first := plain.build(keys)
			found := falsePositives(first, absent)
			if found > len(absent)/4 {
				require.NotEqual(t, first, tuned.build(keys), shape.name)
				differ++
			}
			if len(tuned.build(keys)) == 67+1 {
				spread++
			}
			slices.Reverse(keys)
			same("not in order, "+shape.name, keys)
		}
		if shape.name == "big-endian" || shape.name == "%016d" {
			require.Equal(t, 40, differ, shape.name)
		}
		if shape.name == "%015d" { // which need few searches: 64 bytes do not spread, and 67 do
			require.Greater(t, spread, 30)
		}
	}
}

// The absent keys that a builder makes are those that the keys' numbers leave out.
func TestNeighbors(t *testing.T) {
	rng := policytest.Rand(t, 82)
	for _, shape := range tuningShapes {
		complete := map[string]float64{"little-endian": 0.9, "row%d": 0.8, "random": 0}
		least, ok := complete[shape.name]
		if !ok {
			least = 0.95
		}
		made, all := 0, 0
		for range 100 {
			present, between, _ := shape.keys(rng, 60, 0.63)
			isAbsent := map[uint32]bool{}
			for _, key := range between {
				isAbsent[Hash(key)] = true
			}
			all += len(isAbsent)
			var a neighbors
			a.reset()
			for _, key := range present {
				a.add(key)
			}
			for _, h := range a.hashes {
				if isAbsent[h] {
					made++
					isAbsent[h] = false // none twice
				} else {
					require.Contains(t, []string{"little-endian", "row%d"}, shape.name,
						"not absent, or made twice")
				}
			}
		}
		require.GreaterOrEqual(t, float64(made), least*float64(all),
			"%s: %d of %d", shape.name, made, all)
		if shape.name == "random" {
			require.Zero(t, made)
		}
	}
}

// After the last key come those that follow it, also before a suffix.
func TestNeighborsBeyond(t *testing.T) {
	for _, name := range []string{"%016d", "big-endian", "acct:%010d:bal"} {
		shape := shapeNamed(t, name)
		var a neighbors
		a.reset()
		for i := uint64(99_980); i < 99_995; i += 2 {
			a.add(shape.key(i))
		}
		a.hashes = a.hashes[:0]
		a.addBeyond(20)
		var want []uint32
		for i := range uint64(20) {
			want = append(want, Hash(shape.key(99_995+i)))
		}
		require.Equal(t, want, a.hashes, name)
		a.skip = 1 // the last key seen need not be the builder's last
		a.addBeyond(20)
		require.Len(t, a.hashes, 20)
	}
}

// A builder keeps a bounded number of absent keys, made from all over the keys; and it compares few
// keys if none are near neighbors.
func TestNeighborsAreBounded(t *testing.T) {
	rng := policytest.Rand(t, 83)
	builder := newTuningBuilder(&Setting{BitsPerKey: 10, Tuning: 0.05})
	keys, _, _ := shapeNamed(t, "%016d").keys(rng, 50_000, 0.2)
	late := 0
	for i, key := range keys {
		builder.Add(key)
		if i == len(keys)/2 {
			late = builder.absent.skip
		}
		require.LessOrEqual(t, len(builder.absent.hashes), maxNeighbors)
	}
	require.LessOrEqual(t, cap(builder.absent.hashes), 2*maxNeighbors)
	require.Greater(t, len(builder.absent.hashes), maxNeighbors/8)
	require.Equal(t, 2*late+1, builder.absent.skip, "half as many runs as before")

	builder = newTuningBuilder(&Setting{BitsPerKey: 10, Tuning: 0.05})
	keys, _, _ = shapeNamed(t, "random").keys(rng, 1000, 1)
	for _, key := range keys {
		builder.Add(key)
	}
	require.Less(t, builder.absent.pairs, 100)
	require.Positive(t, builder.absent.pairs)
}

// The examples of spreads: in filters of LevelDB's k, neighbors coincide in the sizes that it
// refuses.
func TestSpreads(t *testing.T) {
	rng := policytest.Rand(t, 84)
	rate := func(name string, size int) *rates {
		var r rates
		for range 60 {
			present, between, _ := shapeNamed(t, name).keys(rng, 100, 0.63)
			filter := make([]byte, size+1)
			filter[size] = 6
			for _, key := range present {
				set(filter, []uint32{Hash(key)})
			}
			r.add(falsePositives(filter, between), len(between))
		}
		return &r
	}
	for _, c := range []struct {
		good, bad int
		ratio     float64
	}{
		{127, 128, 3}, {121, 120, 3}, {121, 124, 2}, {121, 119, 1.3}, {131, 130, 1.3},
		{121, 135, 1.3}, {123, 135, 1.3},
	} {
		require.True(t, spreads(uint64(c.good)))
		require.False(t, spreads(uint64(c.bad)))
		good, bad := rate("big-endian", c.good), rate("big-endian", c.bad)
		require.Greater(t, bad.mean(), c.ratio*good.mean(), "%d and %d bytes", c.good, c.bad)
	}
	require.Greater(t, rate("%016d", 128).mean(), 8*rate("%016d", 127).mean())
}

// The figures of choiceForMany: random keys.
func TestTuningManyKeys(t *testing.T) {
	policytest.Large(t)
	plain := &Setting{BitsPerKey: 10}
	tuned := &Setting{BitsPerKey: 10, Tuning: 0.05}
	for _, n := range []int{manyKeys - 1, manyKeys, 50_000, 150_000} {
		keys, absent, _ := shapeNamed(t, "random").keys(policytest.Rand(t, int64(n)), n, 0.5)
		before, after := plain.build(keys), tuned.build(keys)
		if n < manyKeys {
			require.Equal(t, before, after)
			continue
		}
		require.EqualValues(t, 8, after[len(after)-1])
		require.Less(t, len(after), len(before)+16)
		b := float64(falsePositives(before, absent)) / float64(len(absent))
		a := float64(falsePositives(after, absent)) / float64(len(absent))
		t.Logf("%d random keys: %.2f %%, tuned %.2f %%", n, 100*b, 100*a)
		sigma := math.Sqrt(b / float64(len(absent)))
		require.Less(t, a, 0.95*b+3*sigma)
		require.Greater(t, a, 0.0082-3*sigma, "the optimum of independent probes")
	}
	// Keys that would be searched for, were there fewer of them, get the first choice.
	for _, n := range []int{manyKeys, manyKeys + 1} {
		keys, _, _ := shapeNamed(t, "big-endian").keys(policytest.Rand(t, 86), n, 0.5)
		filter := tuned.build(keys)
		size, _, k := tuned.Choice(n)
		require.EqualValues(t, size, len(filter))
		require.EqualValues(t, k, filter[size-1])
	}
	for _, c := range []struct{ bits, k int }{{1, 1}, {3, 2}, {4, 2}, {5, 5}, {60, 30}} {
		keys, _, _ := shapeNamed(t, "random").keys(policytest.Rand(t, 85), manyKeys, 1)
		tuned := &Setting{BitsPerKey: float64(c.bits), Tuning: 0.05}
		filter := tuned.build(keys)
		require.EqualValues(t, c.k, filter[len(filter)-1], "%d bits per key", c.bits)
	}
}
