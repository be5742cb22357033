package analysis

import (
	"math"

	"github.com/levelbloom/levelbloom/sstable/filterdump/encoding"
	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

// A layout is what decides the size of LevelDB's filters: the setting, and how many keys each filter has.
type layout struct {
	bitsPerKey float64
	perWindow  bool
	baseLg     int     // if perWindow
	keys       []int64 // of each filter
}

// layoutOf returns the layout of filters of LevelDB's encoding, which tell their setting by their sizes. ok is false if
// they are of another encoding, or tell none.
func layoutOf(f *tables.Filters, keys []int64) (l layout, ok bool) {
	if f.Encoding != encoding.LevelDBBloom {
		return layout{}, false
	}
	l = layout{perWindow: f.PerWindow, baseLg: f.BaseLg, keys: keys}
	// bits = max(64, ceil(n * bitsPerKey)) rounded up to whole bytes, and k = floor(0.69 * bitsPerKey), at least 1, at most
	// 30, so each filter says between which bounds the setting is; all together leave little choice.
	low, high := 0.0, math.Inf(1)
	var allBits, allKeys float64
	for i, filter := range f.Each {
		if keys[i] == 0 || matchesAll(filter) || len(filter) < 2 {
			continue
		}
		n, bits, k := float64(keys[i]), float64(8*(len(filter)-1)), float64(filter[len(filter)-1])
		allKeys += n
		allBits += bits
		high = min(high, bits/n)
		if bits > 64 {
			low = max(low, (bits-8)/n)
		}
		if k > 1 {
			low = max(low, k/0.69)
		}
		if k < 30 {
			high = min(high, (k+1)/0.69)
		}
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

// matchesAll reports whether a filter of LevelDB's encoding matches every key by its k: 0, or one that is reserved.
func matchesAll(filter []byte) bool {
	return len(filter) >= 2 && (filter[len(filter)-1] == 0 || filter[len(filter)-1] > 30)
}

// filterBytes returns the size of a filter of n keys.
func (l layout) filterBytes(n int64) int64 {
	bits := max(64, int64(math.Ceil(float64(n)*l.bitsPerKey)))
	return (bits+7)/8 + 1
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

// isWider reports whether o has larger windows.
func (l layout) isWider(o Other) bool { return l.perWindow && o.BaseLg > l.baseLg }
