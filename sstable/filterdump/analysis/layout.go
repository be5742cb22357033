package analysis

import (
	"maps"
	"math"
	"slices"

	"github.com/levelbloom/levelbloom/sstable/filterdump/encoding"
	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

// A layout is what decides the size of the filters that package policy makes: the setting, and how many keys each filter has.
type layout struct {
	encoding   encoding.Encoding // LevelDBBloom or BlockedBloom
	bitsPerKey float64
	perWindow  bool
	baseLg     int     // if perWindow
	keys       []int64 // of each filter
}

// layoutOf returns the layout of filters that tell their setting by their sizes. ok is false if they are not all of one of
// these encodings, or tell none.
func layoutOf(f *tables.Filters, keys []int64) (l layout, ok bool) {
	of := slices.Collect(maps.Keys(kinds(f)))
	if len(of) != 1 || of[0] != encoding.LevelDBBloom && of[0] != encoding.BlockedBloom {
		return layout{}, false
	}
	l = layout{encoding: of[0], perWindow: f.PerWindow, baseLg: f.BaseLg, keys: keys}
	// Each filter says between which bounds the setting is; all together leave little choice.
	low, high := 0.0, math.Inf(1)
	var allBits, allKeys float64
	for i, filter := range f.Each {
		if keys[i] == 0 {
			continue
		}
		bits, from, to := l.bounds(filter, float64(keys[i]))
		if bits == 0 {
			continue
		}
		allKeys += float64(keys[i])
		allBits += bits
		low, high = max(low, from), min(high, to)
	}
	switch whole := math.Floor(high); {
	case allKeys == 0:
		return layout{}, false
	case whole >= low && whole > 0:
		l.bitsPerKey = whole
	case low < high:
		l.bitsPerKey = (low + high) / 2
	default: // the filters are not of one setting, or an entry stands for more or less than one key
		l.bitsPerKey = allBits / allKeys
	}
	return l, true
}

// Of package policy's filters.
const (
	maxProbes      = 30 // LevelDB's Bloom
	blockedTrailer = 3  // bytes behind the bits of blocked Bloom
	blockedSingle  = 1280
	blockedLine    = 64 // bytes that larger ones come in
)

// bounds returns the bits of a filter of n keys, and between which numbers its bits per key were set. bits is 0 if the
// filter tells nothing.
func (l layout) bounds(filter []byte, n float64) (bits, low, high float64) {
	if l.encoding == encoding.BlockedBloom {
		payload := len(filter) - blockedTrailer
		if payload < 1 {
			return 0, 0, 0
		}
		bits, high = float64(8*payload), float64(8*payload)/n
		switch {
		case payload > blockedSingle:
			low = (bits - 8*blockedLine) / n
		case payload > 1:
			low = (bits - 8) / n
		}
		return bits, low, high
	}
	// bits = max(64, ceil(n * bitsPerKey)) rounded up to whole bytes, and k = floor(0.69 * bitsPerKey), at least 1, at most 30.
	if len(filter) < 2 || filter[len(filter)-1] == 0 {
		return 0, 0, 0
	}
	k := float64(filter[len(filter)-1])
	bits = float64(8 * (len(filter) - 1))
	high = bits / n
	if bits > 64 {
		low = (bits - 8) / n
	}
	if k > 1 {
		low = max(low, k/0.69)
	}
	if k < maxProbes {
		high = min(high, (k+1)/0.69)
	}
	return bits, low, high
}

// filterBytes returns the size of a filter of n keys; one of binary fuse has 15 bytes more at most.
func (l layout) filterBytes(n int64) int64 {
	bits := int64(math.Ceil(float64(n) * l.bitsPerKey))
	if l.encoding == encoding.BlockedBloom {
		payload := max(1, (bits+7)/8)
		if payload > blockedSingle {
			payload = (payload + blockedLine - 1) / blockedLine * blockedLine
		}
		return payload + blockedTrailer
	}
	return (max(64, bits)+7)/8 + 1
}

// mayBeFuse reports whether a policy of l's bits per key might make a filter of binary fuse: one is long enough, and cells
// for fingerprints of 8 bits fit.
func (l layout) mayBeFuse() bool {
	return slices.ContainsFunc(l.keys, func(n int64) bool {
		least := 8 * max(1.125, 0.875+0.25*math.Log(1e6)/math.Log(float64(n)))
		return float64(n)*l.bitsPerKey > 8*blockedSingle && l.bitsPerKey >= least
	})
}

// merged returns the number of keys of each filter if there were one for every 2^baseLg bytes, baseLg >= l.baseLg. The
// array goes on behind the last keys as far as the data does, whole windows only, which the length of l.keys tells.
func (l layout) merged(baseLg int) []int64 {
	shift := baseLg - l.baseLg
	windows := len(l.keys) >> shift
	for i, n := range l.keys {
		if n > 0 {
			windows = max(windows, i>>shift+1)
		}
	}
	keys := make([]int64, windows)
	for i, n := range l.keys {
		if n > 0 {
			keys[i>>shift] += n
		}
	}
	return keys
}

// blockBytes returns the size of the filter block that l would have at baseLg: the filters, the offset of each in 4 bytes,
// the offset of the array, and base_lg.
func (l layout) blockBytes(baseLg int) (bytes int64) {
	for _, n := range l.merged(baseLg) {
		if n > 0 {
			bytes += l.filterBytes(n)
		}
		bytes += 4
	}
	return bytes + 5
}

// bytes returns the size of all filters, offsets and all.
func (l layout) bytes() (bytes int64) {
	if l.perWindow {
		return l.blockBytes(l.baseLg)
	}
	for _, n := range l.keys {
		bytes += l.filterBytes(n)
	}
	return bytes
}

// isWider reports whether o has larger windows, and nothing else.
func (l layout) isWider(o Other) bool { return l.perWindow && o.BaseLg > l.baseLg }

// isOfAnother reports whether o has another encoding, and nothing else.
func (l layout) isOfAnother(o Other) bool { return o.Encoding != l.encoding.String() }

// hasMoreBits reports whether o has more bits per key, and nothing else.
func (l layout) hasMoreBits(o Other) bool { return !l.isWider(o) && !l.isOfAnother(o) }
