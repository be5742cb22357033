package analysis

import (
	"fmt"
	"strings"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

const (
	usualBits = 10 // LevelDB's usual setting
	fewBits   = 5  // with fewer, the FPR is about a tenth or more

	manyKeys = 10_000 // from which on policy.WithTuning gains little
)

// findings are what the advice goes by.
type findings struct {
	*Report
	format string
}

// advise returns sentences that follow from what was found in this very table. Each rule gives one,
// or "" if it does not apply.
func advise(info *tables.Info, r *Report) (all []string) {
	if info.Filters == nil {
		if r.Entries == 0 {
			return nil
		}
		return []string{"The table has no filter: every lookup in it reads data, whether the key " +
			"is there or not."}
	}
	f := findings{r, info.Format}
	for _, rule := range []func(findings) string{
		adviseReaders, adviseUncovered, adviseSaturated, adviseFewBits, adviseDense,
	} {
		if sentence := rule(f); sentence != "" {
			all = append(all, sentence)
		}
	}
	return all
}

func (f findings) inLevelDBFormat() bool { return strings.HasPrefix(f.format, "LevelDB") }

// adviseReaders says who reads the filters, where LevelDB's readers do not.
func adviseReaders(f findings) string {
	n := f.Encodings[ribbonKind.encoding.String()]
	if n == 0 || !f.inLevelDBFormat() {
		return ""
	}
	return fmt.Sprintf("%s of %d (%v): %s.", Count(n, "filter"), f.Filters, ribbonKind.encoding,
		f.readers())
}

// readers says who reads ribbon filters. LevelDB's readers open only tables in their
// own format.
func (f findings) readers() string {
	const ours = "only levelbloom reads them"
	if !f.inLevelDBFormat() {
		return ours
	}
	return ours + `; C++ LevelDB and goleveldb's own policy answer "may contain" to every key`
}

func adviseUncovered(f findings) string {
	if f.Unfiltered == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d entries are covered by no filter: lookups there read data, "+
		"whether the key is there or not.", f.Unfiltered, f.Entries)
}

func adviseSaturated(f findings) string {
	if f.Saturated == 0 {
		return ""
	}
	return fmt.Sprintf(`%d of %s have all bits set and answer "may contain" to every key: they `+
		"cost memory and avoid no read.", f.Saturated, Count(f.Filters, "filter"))
}

func adviseFewBits(f findings) string {
	if !f.Verified || f.Random.Asked == 0 || f.BitsPerKey >= fewBits {
		return ""
	}
	sentence := fmt.Sprintf("%.3g bits per key are few: the FPR of random keys is %v; with %d "+
		"bits it would be about %s", f.BitsPerKey, f.Random, usualBits,
		percent(exactKind.fpp(usualBits, f.KeysPerFilter)))
	if fpp := ribbonKind.fpp(f.BitsPerKey, f.KeysPerFilter); fpp < 0.9*f.Random.Rate {
		sentence += fmt.Sprintf(", with %s and as few bits %s (%s)", ribbonKind.call, percent(fpp),
			f.readers())
	}
	return sentence + "."
}

// adviseDense says what helps if the FPR between the keys is clearly above that of random ones.
func adviseDense(f findings) string {
	if !f.Between.clearlyAbove(f.Random) {
		return ""
	}
	sentence := fmt.Sprintf("The FPR is %v between your keys and %v for random ones, because "+
		"LevelDB's hash does not scatter keys that resemble each other", f.Between, f.Random)
	if f.Encodings[exactKind.encoding.String()]+f.Encodings[tunedName] == 0 {
		sentence = fmt.Sprintf("The FPR is %v between your keys and %v for random ones",
			f.Between, f.Random)
	}
	if f.Encodings[exactKind.encoding.String()] > 0 && f.KeysPerFilter < manyKeys {
		sentence += ". policy.NewBloom with policy.WithTuning lowers it for every reader of " +
			"LevelDB's filters"
	}
	fpp := ribbonKind.fpp(f.BitsPerKey, f.KeysPerFilter)
	if fpp < 1 && f.Encodings[ribbonKind.encoding.String()] == 0 {
		sentence += fmt.Sprintf(". With %.3g bits per key it would be about %s with %s (%s)",
			f.BitsPerKey, percent(fpp), ribbonKind.call, f.readers())
	}
	return sentence + "."
}
