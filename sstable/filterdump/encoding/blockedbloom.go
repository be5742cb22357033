package encoding

import (
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/levelbloom/levelbloom/policy"
)

// BlockedBloom is the blocked Bloom encoding of package policy, which describes it byte for byte. What is not a filter of it
// may contain every key. The bits are taken apart here once more, from that description.
var BlockedBloom Encoding = blockedBloom{}

type blockedBloom struct{}

var blockedEnding = ending{name: "blocked Bloom", version: 1, kind: 0x42}

const (
	blockedTrailer = 3 // k, version, encoding

	blockedLine   = 64
	blockedSingle = 1280 // a payload of up to so many bytes is one line
	blockedRemix  = 0x9e3779b9
)

func (blockedBloom) String() string { return blockedEnding.String() }

func (e blockedBloom) Of([]byte) Encoding { return e }

// A blockedFilter is a filter taken apart.
type blockedFilter struct {
	payload   []byte
	lineBytes int
	k         int
}

func parseBlocked(filter []byte) (f blockedFilter, ok bool) {
	n := len(filter) - blockedTrailer
	if n < 1 || !blockedEnding.of(filter) {
		return f, false
	}
	f = blockedFilter{payload: filter[:n], lineBytes: n, k: int(filter[n])}
	if n > blockedSingle {
		f.lineBytes = blockedLine
	}
	return f, n%f.lineBytes == 0
}

func (f blockedFilter) lines() uint64 { return uint64(len(f.payload) / f.lineBytes) }

func (blockedBloom) MayContain(filter, key []byte) bool {
	_, ok := parseBlocked(filter)
	return !ok || policy.MayContain(filter, key)
}

// Measure has no statistics for a filter that no key can change the answer of: of a length that does not fit, or with k = 0.
// The estimates are those of measureLines. Random keys pass as often as FPP says, give or take 5 % (TestBlockedBloomEstimates).
func (blockedBloom) Measure(filter []byte) (s Stats, ok bool) {
	f, ok := parseBlocked(filter)
	if !ok || f.k == 0 {
		return Stats{}, false
	}
	s = measureLines(f.payload, f.lineBytes, f.k)
	if f.lines() == 1 {
		s.LineBits = 0
	}
	return s, true
}

// Explain takes the probes one by one, as the format's description does.
func (e blockedBloom) Explain(filter, key []byte) Explanation {
	h := xxh3.Hash(key)
	x := Explanation{Hash: h, HashBits: 64, MayContain: e.MayContain(filter, key)}
	f, ok := parseBlocked(filter)
	switch {
	case !ok:
		x.Note = alwaysMatches(unfitting)
		return x
	case f.k == 0:
		x.Note = "k = 0: no probe says no, and every key matches"
		return x
	}
	lineBits := 8 * uint64(f.lineBytes)
	line := h >> 32 * f.lines() >> 32
	if f.lines() == 1 {
		x.Note = fmt.Sprintf("the bits are one line of %d", lineBits)
	} else {
		x.LineBits = int64(lineBits)
		x.Note = fmt.Sprintf("all probes lie in line %d of %d, which has %d bits", line, f.lines(), lineBits)
	}
	probe := uint32(h)
	for range f.k {
		bit := line*lineBits + uint64(probe)*lineBits>>32
		x.Probes = append(x.Probes, Probe{Bit: int64(bit), Set: f.payload[bit/8]>>(bit%8)&1 == 1})
		probe *= blockedRemix
	}
	return x
}
