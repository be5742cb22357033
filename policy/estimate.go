package policy

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Ones returns the number of bits of Payload that are set. In a ribbon filter it is about half of
// them, and says nothing of the keys.
func (i Info) Ones() int { return ones(i.Payload) }

func ones(array []byte) (n int) {
	for ; len(array) >= 8; array = array[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(array))
	}
	for _, b := range array {
		n += bits.OnesCount8(b)
	}
	return n
}

// Estimate estimates from the bits that are set how many distinct keys the filter has, and the
// probability that a random absent key is a false positive. keys is +Inf if all bits of the filter
// are set. Both assume well-mixed hashes: among the neighbors of dense numbers,
// LevelDB's encoding can have far more false positives. Of a ribbon filter it computes both from
// its layout; keys is within 3 % (TestEstimates). An Info that came with an error
// has 0 keys and an fpp of 1.
func (i Info) Estimate() (keys, fpp float64) {
	switch {
	case i.K == 0: // Parse returned an error
		return 0, 1
	case i.Encoding == EncodingRibbon:
		return i.ribbon.Keys, i.ribbon.FPP
	}
	return bloomModel{k: i.K, bits: float64(8 * len(i.Payload))}.estimate(float64(i.Ones()))
}

// A bloomModel predicts how many bits keys with random hashes set in LevelDB's encoding.
//
// It takes all probes but one as independent and uniform. The exception is the probe with j = 2,
// h + 2*(h rotated right by 17): if a and b are the halves of h, it is (a + b)*65537 less the
// lowest bit of a, so it takes only about 2^17 values. The model takes these as equally likely and
// scattered at random over the bits. The FPP includes absent keys with the very hash of a key. In
// large filters nearly all of these values are set, and the probe is wasted.
//
// The model leaves out that a key's probes are an arithmetic progression, so that in small filters
// they coincide more often than by chance; that the values of the probes with j = 1, 2 and 4 form
// patterns, which coincide in some sizes of filters; and hashes that are not random. So the FPP is
// mostly too low. Random keys at 10 bits per key have 1.4 times as many false positives with 20
// keys in a filter, 1.04 times with 1,000, and 1.3 times with 100,000; at 20 bits per key and 20
// keys, 17 times. The number of keys is within 2 % there, and within 10 % where a pattern shows.
// (TestEstimates has the figures.) FPP is closer, but starts from the number of keys, and
// samples filters: too slow for a table that has thousands of filters.
type bloomModel struct {
	k    int
	bits float64
}

// scarceValues is the number of values of the probe with j = 2.
const scarceValues = 1 << 17

// fill returns the part of the bits that n keys set, and the probability that a random probe with
// j = 2 (if there is none, any other) finds its bit set.
func (m bloomModel) fill(n float64) (fill, scarce float64) {
	unset := math.Exp(n * float64(m.ordinary()) * math.Log1p(-1/m.bits))
	if m.ordinary() == m.k {
		return 1 - unset, 1 - unset
	}
	// A Poisson-distributed number of the values lies on each bit, with the mean scarceValues/bits.
	// The bit of a random probe has one more, the probe's own. The bit is unset if no key took any
	// of them.
	untaken := math.Exp(-n / scarceValues)
	unset *= math.Exp(-scarceValues / m.bits * (1 - untaken))
	return 1 - unset, 1 - unset*untaken
}

// ordinary returns the number of probes that are like random ones.
func (m bloomModel) ordinary() int {
	if m.k > 2 {
		return m.k - 1
	}
	return m.k
}

// estimate returns the number of keys that set so many bits on average, and the FPP of such a
// filter.
func (m bloomModel) estimate(set float64) (keys, fpp float64) {
	target := set / m.bits
	switch target {
	case 0:
		return 0, 0
	case 1:
		return math.Inf(1), 1
	}
	// fill grows with n, and exceeds all targets below 1 at n = bits * (ln(bits) + 1).
	low, high := 0.0, m.bits*(math.Log(m.bits)+1)
	for high-low > 1e-6*high {
		keys = (low + high) / 2
		if fill, _ := m.fill(keys); fill < target {
			low = keys
		} else {
			high = keys
		}
	}
	_, scarce := m.fill(keys)
	fpp = math.Pow(target, float64(m.k-1)) * scarce
	sameHash := -math.Expm1(-keys / (1 << 32))
	return keys, sameHash + (1-sameHash)*fpp
}
