package analysis

import (
	"fmt"
	"math"
	"strings"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/filters"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

const (
	usualBits = 10 // LevelDB's usual setting
	fewBits   = 5  // with fewer, the FPR is about a tenth or more
)

// findings is what the rules of the advice go by.
type findings struct {
	*Report
	format  string
	policy  string
	setting *setting // nil: as an analyzer's
}

// advise returns sentences that follow from what was found in this very table. Each rule gives one,
// or "" if it does not apply.
func advise(info *tables.Info, r *Report, s *setting) (all []string) {
	if info.Filters == nil {
		if r.Entries == 0 {
			return nil
		}
		return []string{"The table has no filter: every lookup in it reads data, whether the key " +
			"is there or not."}
	}
	f := findings{r, info.Format, info.Filters.Policy, s}
	for _, rule := range []func(findings) string{
		adviseName, adviseReaders, adviseUncovered, adviseSaturated, adviseFewBits, adviseDense,
		adviseKind,
	} {
		if sentence := rule(f); sentence != "" {
			all = append(all, sentence)
		}
	}
	return all
}

// adviseName says which engines use filters of this name.
func adviseName(f findings) string {
	levelDB := f.inLevelDBFormat()
	uses := "only an engine that is configured with a policy of this name uses them"
	switch {
	case levelDB && f.policy == policy.Name:
		uses = "C++ LevelDB uses them; goleveldb does with levelbloom's Configure, or with a policy " +
			"of this name in Filter or AltFilters"
	case levelDB && f.policy == policy.NameGoLevelDB:
		uses = "goleveldb uses them; C++ LevelDB does not, because it looks for " + policy.Name
	case levelDB && f.policy == filters.BuiltinName:
		uses = "Pebble and RocksDB use them; goleveldb and C++ LevelDB do not"
	case !levelDB && strings.HasPrefix(f.policy, "rocksdb."):
		return ""
	}
	return fmt.Sprintf("The filters are named %s: %s.", f.policy, uses)
}

func (f findings) inLevelDBFormat() bool { return strings.HasPrefix(f.format, "LevelDB") }

// adviseReaders says who reads the filters, where LevelDB's readers do not.
func adviseReaders(f findings) string {
	if !f.inLevelDBFormat() {
		return ""
	}
	for _, k := range kinds {
		if n := f.Encodings[k.encoding.String()]; n > 0 && k.readers != "" {
			return fmt.Sprintf("%d of %s are %v: %s.", n, count(f.Filters, "filter"), k.encoding,
				k.readers)
		}
	}
	return ""
}

func adviseUncovered(f findings) string {
	if f.Unfiltered == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d entries are covered by no filter: lookups there read data, whether "+
		"the key is there or not.", f.Unfiltered, f.Entries)
}

func adviseSaturated(f findings) string {
	if f.Saturated == 0 {
		return ""
	}
	return fmt.Sprintf(`%d of %s have all bits set and answer "may contain" to every key: they cost `+
		"memory and avoid no read.", f.Saturated, count(f.Filters, "filter"))
}

func adviseFewBits(f findings) string {
	if f.setting == nil || f.setting.bitsPerKey >= fewBits {
		return ""
	}
	sentence := fmt.Sprintf("%.3g bits per key are few: the FPR of random keys is %v",
		f.setting.bitsPerKey, f.Random)
	for _, t := range f.Trials {
		if f.setting.hasMoreBits(t) {
			sentence += fmt.Sprintf("; with %.3g bits it would be %v", t.BitsPerKey, t.Random)
		}
	}
	return sentence + "."
}

// adviseDense compares the FPR between the keys with that of random ones if it is clearly above, and
// says what larger settings would do about it.
func adviseDense(f findings) string {
	if !f.Between.clearlyAbove(f.Random) {
		return ""
	}
	sentence := fmt.Sprintf("The FPR is %v between your keys and %v for random ones",
		f.Between, f.Random)
	best := math.Inf(1) // of larger windows
	for _, t := range f.Trials {
		if f.setting.hasLargerWindows(t) {
			best = min(best, t.Between.Rate)
		}
	}
	for _, t := range f.Trials {
		switch helps := f.Between.clearlyAbove(t.Between); {
		case f.setting.hasMoreBits(t) && helps:
			sentence += fmt.Sprintf("; with %.3g bits per key it would be %v between them",
				t.BitsPerKey, t.Between)
		case f.setting.hasMoreBits(t):
			sentence += fmt.Sprintf("; with %.3g bits per key it would still be %v between them",
				t.BitsPerKey, t.Between)
		// The smallest windows that are about as good as any.
		case f.setting.hasLargerWindows(t) && helps && t.Between.Rate <= 1.25*best:
			return sentence + fmt.Sprintf("; with goleveldb's FilterBaseLg %d it would be %v.",
				t.BaseLg, t.Between)
		}
	}
	return sentence + "."
}

// adviseKind names the other kind of filter that does best between the keys.
func adviseKind(f findings) string {
	var best *Trial
	for i, t := range f.Trials {
		if f.setting.isOfAnotherKind(t) && f.Between.clearlyAbove(t.Between) &&
			(best == nil || t.Between.Rate < best.Between.Rate) {
			best = &f.Trials[i]
		}
	}
	for _, k := range kinds {
		if best != nil && best.Encoding == k.encoding.String() {
			sentence := fmt.Sprintf("With %s and the same %.3g bits per key, the FPR would be %v "+
				"between your keys.", k.call, best.BitsPerKey, best.Between)
			if k.readers != "" {
				sentence += fmt.Sprintf(" (Of its filters: %s.)", k.readers)
			}
			return sentence
		}
	}
	return ""
}

// A trial differs from the table's setting in one thing.

func (s *setting) isOfAnotherKind(t Trial) bool { return t.Encoding != s.kind.encoding.String() }

func (s *setting) hasLargerWindows(t Trial) bool { return s.perWindow && t.BaseLg > s.baseLg }

func (s *setting) hasMoreBits(t Trial) bool {
	return !s.isOfAnotherKind(t) && !s.hasLargerWindows(t)
}
