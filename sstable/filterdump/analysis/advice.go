package analysis

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/encoding"
	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

// Advice is sentences that follow from what was found in this very table. Each rule gives one, or "" if it does not apply.

const (
	usualBits = 10 // LevelDB's usual setting
	fewBits   = 5  // with fewer, about a tenth of all absent keys pass, or more

	maxBaseLg = 20 // larger windows save next to nothing more

	worthFuse = 0.0025 // of the absent keys: so many fewer must pass for binary fuse to be worth making
)

// findings is what the rules go by.
type findings struct {
	*Report
	format  string
	filters *tables.Filters // not nil
	layout  *layout         // nil: as an analyst's
}

func advise(info *tables.Info, r *Report, l *layout) (all []string) {
	if info.Filters == nil {
		if r.Entries == 0 {
			return nil
		}
		return []string{"The table has no filter: every lookup that comes to it reads data, whether the key is there or not."}
	}
	f := findings{r, info.Format, info.Filters, l}
	for _, rule := range []func(findings) string{
		adviseName, adviseReaders, adviseUncovered, adviseUnmeasured, adviseSaturated, adviseFewBits, adviseDense, adviseBlocked, adviseFuse, adviseOffsets,
	} {
		if sentence := rule(f); sentence != "" {
			all = append(all, sentence)
		}
	}
	return all
}

// adviseName says which engines use filters of this name.
func adviseName(f findings) string {
	const pebbles = "rocksdb.BuiltinBloomFilter"
	levelDB := strings.HasPrefix(f.format, "LevelDB")
	switch name := f.filters.Policy; {
	case levelDB && name == policy.Name:
		return fmt.Sprintf("The filters are named %s, as C++ LevelDB names them: goleveldb does not use them unless its Filter or AltFilters has a policy of this name, which levelbloom's Configure sees to.", name)
	case levelDB && name == policy.NameGoLevelDB:
		return fmt.Sprintf("The filters are named %s, as goleveldb names them: C++ LevelDB does not use them, it looks for %s.", name, policy.Name)
	case levelDB && name == pebbles:
		return fmt.Sprintf("The filters are named %s: goleveldb and C++ LevelDB do not use them; Pebble and RocksDB do.", name)
	case !levelDB && strings.HasPrefix(name, "rocksdb."):
		return ""
	default:
		return fmt.Sprintf("The filters are named %s: only an engine that is configured with a policy of this name uses them.", name)
	}
}

// adviseReaders says which readers of LevelDB's tables know the filters.
func adviseReaders(f findings) string {
	if !strings.HasPrefix(f.format, "LevelDB") {
		return ""
	}
	n, names := 0, []string{}
	for _, k := range []struct {
		encoding encoding.Encoding
		name     string
	}{{encoding.BlockedBloom, blockedBloom}, {encoding.BinaryFuse, binaryFuse}} {
		if of := f.Encodings[k.encoding.String()]; of > 0 {
			n += of
			names = append(names, k.name)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d filters are %s, %s.", n, f.Filters, strings.Join(names, " or "), onlyOurs)
}

const (
	blockedBloom = "blocked Bloom"
	binaryFuse   = "binary fuse"
	onlyOurs     = `which only levelbloom's policies read: C++ LevelDB and goleveldb's own policy answer "may contain" to every key`
)

func adviseUncovered(f findings) string {
	if f.Unfiltered == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d entries are covered by no filter: lookups there read data, whether the key is there or not.", f.Unfiltered, f.Entries)
}

func adviseUnmeasured(f findings) string {
	if f.Unmeasured == 0 {
		return ""
	}
	matching, why := 0, map[string]int{}
	for _, filter := range f.filters.Each {
		if _, ok := f.filters.Encoding.Measure(filter); ok || len(filter) == 0 {
			continue
		}
		if x := f.filters.Encoding.Explain(filter, nil); x.MayContain {
			matching++
			why[x.Note]++
		}
	}
	if matching == 0 {
		return ""
	}
	var reasons []string
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		reasons = append(reasons, fmt.Sprintf("%s (in %d)", reason, why[reason]))
	}
	return fmt.Sprintf(`%d of %d filters answer "may contain" to every key here: %s.`, matching, f.Filters, strings.Join(reasons, "; "))
}

func adviseSaturated(f findings) string {
	if f.Saturated == 0 {
		return ""
	}
	return fmt.Sprintf(`%d of %d filters have all bits set, and answer "may contain" to every key: they cost memory and spare no read.`, f.Saturated, f.Filters)
}

func adviseFewBits(f findings) string {
	if f.layout == nil || f.layout.bitsPerKey >= fewBits {
		return ""
	}
	sentence := fmt.Sprintf("%.3g bits per key are few: %v of random keys pass", f.layout.bitsPerKey, f.Random)
	for _, o := range f.Others {
		if f.layout.hasMoreBits(o) {
			more := *f.layout
			more.bitsPerKey = o.BitsPerKey
			sentence += fmt.Sprintf("; with %.3g bits %v would, for %d bytes more", o.BitsPerKey, o.Random, more.bytes()-f.layout.bytes())
		}
	}
	return sentence + "."
}

// adviseDense says what becomes of absent keys between the keys, if it is worse than what becomes of random ones, why, and
// what came out with the settings that were tried.
func adviseDense(f findings) string {
	if !f.Between.clearlyAbove(f.Random) {
		return ""
	}
	sentence := fmt.Sprintf("%v of absent keys between your keys pass, and %v of random ones", f.Between, f.Random)
	if f.BetweenCollisions != nil {
		collided := ratio(float64(*f.BetweenCollisions), float64(f.Between.Asked))
		if collided > (f.Between.Rate-f.Random.Rate)/2 {
			sentence += fmt.Sprintf(": %s because they share a 32-bit hash with a key, so more bits per key will not help", percent(collided))
		}
	}
	best := math.Inf(1) // of larger windows
	for _, o := range f.Others {
		if f.layout.isWider(o) {
			best = min(best, o.Between.Rate)
		}
	}
	for _, o := range f.Others {
		switch helps := f.Between.clearlyAbove(o.Between); {
		case f.layout.isOfAnother(o): // adviseBlocked, adviseFuse
		case f.layout.hasMoreBits(o) && helps:
			sentence += fmt.Sprintf("; with %.3g bits per key, %v would", o.BitsPerKey, o.Between)
		case f.layout.hasMoreBits(o):
			sentence += fmt.Sprintf("; with %.3g bits per key, %v still would", o.BitsPerKey, o.Between)
		case helps && o.Between.Rate <= 1.25*best: // the smallest windows that are about as good as any
			return sentence + fmt.Sprintf("; with goleveldb's FilterBaseLg %d, %v would.", o.BaseLg, o.Between)
		}
	}
	return sentence + "."
}

// adviseBlocked names blocked Bloom where it keeps the rate that LevelDB's encoding does not keep.
func adviseBlocked(f findings) string {
	o, tried := f.tried(encoding.BlockedBloom)
	if !tried || !f.Between.clearlyAbove(o.Between) {
		return ""
	}
	return fmt.Sprintf("With policy.NewBlockedBloom and the same %.3g bits per key, %v of absent keys between your keys would pass. Its filters are %s, %s.",
		o.BitsPerKey, o.Between, blockedBloom, onlyOurs)
}

// adviseFuse names binary fuse where it does better than the table's filters, and than blocked Bloom, which is made faster.
func adviseFuse(f findings) string {
	o, tried := f.tried(encoding.BinaryFuse)
	if !tried || !f.Between.isTwice(o.Between, worthFuse) {
		return ""
	}
	if blocked, tried := f.tried(encoding.BlockedBloom); tried && !blocked.Between.isTwice(o.Between, worthFuse) {
		return ""
	}
	return fmt.Sprintf("With policy.NewBinaryFuse and the same %.3g bits per key, %v of absent keys between your keys would pass instead of %v. Its filters are %s, %s. They take more time and memory to make.",
		o.BitsPerKey, o.Between, f.Between, binaryFuse, onlyOurs)
}

// tried returns what came out with another encoding than the table's.
func (f findings) tried(e encoding.Encoding) (o Other, ok bool) {
	for _, o := range f.Others {
		if f.layout.isOfAnother(o) && o.Encoding == e.String() {
			return o, true
		}
	}
	return Other{}, false
}

// adviseOffsets names the smallest windows that save nine tenths of what larger windows can save, if that is a twentieth
// of the filter block or more.
func adviseOffsets(f findings) string {
	if f.layout == nil || !f.layout.perWindow {
		return ""
	}
	now := f.layout.blockBytes(f.layout.baseLg)
	most := int64(0)
	for baseLg := f.layout.baseLg + 1; baseLg <= maxBaseLg; baseLg++ {
		most = max(most, now-f.layout.blockBytes(baseLg))
	}
	for baseLg := f.layout.baseLg + 1; baseLg <= maxBaseLg; baseLg++ {
		saved := now - f.layout.blockBytes(baseLg)
		if 10*saved >= 9*most && 20*saved >= now {
			return fmt.Sprintf("%.3g keys per filter, 4 bytes of offset per window: goleveldb's FilterBaseLg %d would save %d of the filter block's %d bytes (%s).",
				f.KeysPerFilter, baseLg, saved, now, percent(float64(saved)/float64(now)))
		}
	}
	return ""
}
