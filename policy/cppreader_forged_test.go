package policy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/policytest"
	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
)

// Forged filters: 20,000, and with -large a million. Each seed has its own. To repeat one:
// go test -run 'TestCppReader/forged/seed=17$'.
func (r cppReader) testForged(t *testing.T) {
	const each = 10_000
	seeds := 2
	if *large {
		seeds = 100
	}
	var stored []question
	readGolden(t, "../encodings/ribbon.jsonl", func(c encodingCase) {
		if len(c.Filter) > 0 {
			stored = append(stored, question{c.Name, c.Filter, c.keysAndProbes()})
		}
	})
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			rng := policytest.Rand(t, int64(seed))
			originals := newOriginals(rng, stored)
			questions := make([]question, each)
			for i := range questions {
				questions[i] = originals.forge(rng)
			}
			requireBothAnswers(t, questions, r.requireGoAnswers(t, questions))
		})
	}
}

// requireBothAnswers requires that forgeries of each kind were denied some keys and not others: a
// forgery that has one answer to all keys compares nothing.
func requireBothAnswers(t *testing.T, questions []question, contained []int) {
	asked, may := map[string]int{}, map[string]int{}
	for i, q := range questions {
		asked[q.about] += len(q.keys)
		may[q.about] += contained[i]
	}
	require.Len(t, asked, len(forgeries))
	for about, n := range asked {
		share := float64(may[about]) / float64(n)
		require.Greater(t, share, 0.02, about)
		require.Less(t, share, 0.98, about)
	}
}

// originals are filters with some of their keys, by how many keys they have.
type originals struct{ tiny, middle, big, stored []question }

func newOriginals(rng *rand.Rand, stored []question) originals {
	o := originals{stored: stored}
	for n := range 51 {
		o.tiny = append(o.tiny, original(rng, policytest.Keys(rng, n)))
	}
	for range 30 {
		n := int(50 * math.Pow(60, rng.Float64())) // 50 to 3,000, half of them below 387
		o.middle = append(o.middle, original(rng, policytest.Keys(rng, n)))
	}
	// A key that was added over 1000 times: its shard has no solution.
	for range 5 {
		keys := policytest.Keys(rng, 1+rng.Intn(1000))
		for range 1001 + rng.Intn(1000) {
			keys = append(keys, keys[0])
		}
		o.middle = append(o.middle, original(rng, keys))
	}
	for _, n := range []int{1000 + rng.Intn(10_000), 50_000 + rng.Intn(50_001)} {
		o.big = append(o.big, original(rng, policytest.Keys(rng, n)))
	}
	return o
}

// original builds a filter of keys: three of four ribbon, the others Bloom.
func original(rng *rand.Rand, keys [][]byte) question {
	var p Policy = policytest.Must(NewRibbon(2 + 38*rng.Float64()))
	if rng.Intn(4) == 0 {
		p = policytest.Must(NewBloom(1 + 30*rng.Float64()))
	}
	b := p.NewBuilder()
	for _, key := range keys {
		b.Add(key)
	}
	return question{filter: b.Finish(nil), keys: keys}
}

// forge makes a question about a forgery: about keys of the original, and others.
func (o originals) forge(rng *rand.Rand) question {
	from, keys := o.tiny, 4
	switch x := rng.Intn(100); {
	case x < 1: // few: they are long
		from, keys = o.big, 40
	case x < 30:
		from = o.middle
	case x < 60:
		from = o.stored
	}
	original := from[rng.Intn(len(from))]
	forgery := forgeries[rng.Intn(len(forgeries))]
	q := question{about: forgery.name, filter: forgery.forge(rng, bytes.Clone(original.filter))}
	// With a wrong check byte, a filter denies no key.
	if forgery.name != "intact" && rng.Intn(16) != 0 {
		seal(q.filter)
	}
	for i := range keys {
		key := policytest.Keys(rng, 1)[0]
		if i%2 == 0 && len(original.keys) > 0 {
			key = original.keys[rng.Intn(len(original.keys))]
		}
		q.keys = append(q.keys, key)
	}
	return q
}

// seal gives a ribbon filter the check byte that its last 8 bytes need.
func seal(f []byte) {
	if len(f) < 8 || f[len(f)-1] != ribbon.Encoding {
		return
	}
	check := byte(uint32(len(f)) * 0x9e3779b1 >> 24)
	for _, b := range f[len(f)-8:] {
		check ^= b
	}
	f[len(f)-2] ^= check
}

// forgeries change an original, or make a filter of their own.
var forgeries = []struct {
	name  string
	forge func(rng *rand.Rand, f []byte) []byte
}{
	{"intact", func(_ *rand.Rand, f []byte) []byte { return f }},
	{"bits anywhere", func(rng *rand.Rand, f []byte) []byte {
		for range 1 + rng.Intn(4) {
			f[rng.Intn(len(f))] ^= 1 << rng.Intn(8)
		}
		return f
	}},
	{"bits in the last 16 bytes", func(rng *rand.Rand, f []byte) []byte {
		f[len(f)-1-rng.Intn(min(16, len(f)))] ^= 1 << rng.Intn(8)
		return f
	}},
	{"a number at the end", func(rng *rand.Rand, f []byte) []byte {
		if len(f) >= 16 {
			forgeNumber(rng, f)
		}
		return f
	}},
	{"fewer bytes", func(rng *rand.Rand, f []byte) []byte {
		n := rng.Intn(len(f) + 1)
		if few := rng.Intn(20); few < len(f) && rng.Intn(2) == 0 {
			n = few
		}
		if rng.Intn(2) == 0 {
			return f[:len(f)-n]
		}
		return f[n:]
	}},
	{"more bytes", func(rng *rand.Rand, f []byte) []byte {
		more := make([]byte, rng.Intn(100))
		rng.Read(more)
		at := rng.Intn(len(f) + 1)
		return append(f[:at:at], append(more, f[at:]...)...)
	}},
	{"another last byte", func(rng *rand.Rand, f []byte) []byte {
		f[len(f)-1] = byte(rng.Intn(256))
		if rng.Intn(2) == 0 {
			f[len(f)-1] = byte(rng.Intn(34))
		}
		return f
	}},
	{"random bytes", func(rng *rand.Rand, _ []byte) []byte {
		f := make([]byte, 12+rng.Intn(200))
		rng.Read(f)
		f[len(f)-1] = ribbon.Encoding
		return f
	}},
	{"a random shard", func(rng *rand.Rand, _ []byte) []byte { return randomShard(rng) }},
	{"random shards", func(rng *rand.Rand, _ []byte) []byte { return randomShards(rng) }},
}

// forgeNumber overwrites one of the numbers before a ribbon filter's check byte: the last 2 bytes,
// the number of shards, or one of the index.
func forgeNumber(rng *rand.Rand, f []byte) {
	le, two, four := binary.LittleEndian, f[len(f)-4:], f[len(f)-8:]
	shards := uint64(le.Uint32(four))
	index := uint64(len(f)) - 8 - 4*(shards+1)
	if le.Uint16(two)%1024 != 0 || 8+4*(shards+1) > uint64(len(f)) || rng.Intn(4) == 0 {
		le.PutUint16(two, uint16(rng.Intn(1<<16)))
		if rng.Intn(2) == 0 {
			le.PutUint16(two, uint16(rng.Intn(64))<<10)
		}
		return
	}
	if rng.Intn(4) == 0 {
		le.PutUint32(four, uint32(shards)+uint32(rng.Intn(7)-3))
		return
	}
	entry := f[index+4*uint64(rng.Intn(int(shards)+1)):]
	old := le.Uint32(entry)
	le.PutUint32(entry, []uint32{
		old ^ 63,                          // the seed of no solution, often
		old ^ uint32(rng.Intn(64)),        // another seed
		old + uint32(rng.Intn(7)-3)<<6,    // blocks more or less
		old + uint32(rng.Intn(200)-99)<<6, // many
		rng.Uint32(),
	}[rng.Intn(5)])
}

// randomShard returns a filter of one shard, of bits by chance, whose numbers a reader accepts as a
// rule.
func randomShard(rng *rand.Rand) []byte {
	m := 7 + rng.Intn(1<<rng.Intn(10)) + rng.Intn(8)
	payload := make([]byte, 8+m*rng.Intn(41)/8+rng.Intn(m/4+1))
	randomBits(rng, payload)
	f := binary.LittleEndian.AppendUint16(payload, uint16(m%1024|randomSeed(rng)<<10))
	return append(f, 0, ribbon.Encoding)
}

// randomShards is randomShard for 1 to 8 shards.
func randomShards(rng *rand.Rand) []byte {
	var index []byte
	blocks, shards, columns := 0, 1+rng.Intn(8), rng.Intn(41+rng.Intn(2))
	for range shards {
		index = binary.LittleEndian.AppendUint32(index, uint32(64*blocks|randomSeed(rng)))
		blocks += 8 + rng.Intn(1<<rng.Intn(6))
	}
	index = binary.LittleEndian.AppendUint32(index, uint32(64*blocks))
	f := make([]byte, columns*blocks+rng.Intn(2*blocks))
	randomBits(rng, f)
	f = append(f, index...)
	f = binary.LittleEndian.AppendUint32(f, uint32(shards))
	f = binary.LittleEndian.AppendUint16(f, uint16(columns<<10))
	return append(f, 0, ribbon.Encoding)
}

func randomSeed(rng *rand.Rand) int {
	if rng.Intn(3) == 0 {
		return 63
	}
	return rng.Intn(64)
}

// randomBits fills b by chance: half of the bits are 1, or 7 of 8, or none.
func randomBits(rng *rand.Rand, b []byte) {
	switch rng.Intn(4) {
	case 0:
		for i := range b {
			b[i] = byte(rng.Intn(256) | rng.Intn(256) | rng.Intn(256))
		}
	case 1, 2:
		rng.Read(b)
	}
}
