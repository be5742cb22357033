package verdict

import (
	"fmt"

	"github.com/levelbloom/levelbloom/policy"
)

// A Verdict says which filters to use, and why.
type Verdict struct {
	Figures
	Sentence string   `json:"sentence"`
	Facts    []string `json:"facts,omitempty"` // each says how it was found
	Code     []string `json:"code,omitempty"`  // at most three lines of Go; none to keep the filters
}

const (
	fewKeys = 5000

	// worth is how many reads per 1,000 lookups a change must save: one in a hundred lookups.
	worth = 10

	// memory is how many bytes of filters a change must save.
	memory = 4 << 20
)

// Of returns the verdict on a database.
func Of(f Figures) *Verdict {
	v := &Verdict{Figures: f}
	// Without many of the tables the figures mean little, and a database looks small without any.
	tables := v.Sum(func(l *Level) float64 { return float64(l.Tables) })
	if v.Why == "" && v.Unread > 0 &&
		(float64(10*v.Unread) > tables || v.Keys < fewKeys || v.Bytes <= v.Cache) {
		v.Why = fmt.Sprintf(
			"%d of its tables could not be read; if the database is in use, try again", v.Unread)
	}
	then := v.judge()
	for i := range v.Levels {
		l := &v.Levels[i]
		l.Now, l.Then, l.ThenBytes = v.Get(l), then.reads(l), then.bytes(l)
	}
	if v.Why == "" {
		v.Facts = append(v.Facts, v.counted(), v.filters())
		v.Facts = append(v.Facts, v.advice()...)
	}
	return v
}

// judge chooses the sentence and the code by the first rule that holds, and returns the setup that
// they lead to.
func (v *Verdict) judge() (then setup) {
	current, byGet, small := v.byGet(filtersNow), v.byGet(ribbonFilters), v.byGet(smallFilters)
	get, has := v.Sum(current.reads), v.Sum(filtersNow.reads)
	ribbon, everywhere := v.Sum(byGet.reads), v.Sum(ribbonFilters.reads)
	bytes, smallBytes := v.Sum(current.bytes), v.Sum(small.bytes)
	switch pebble := v.Engine != "goleveldb"; {
	case v.Why != "":
		v.say("No verdict: %s.", v.Why)
	case v.Engine == "":
		v.say("No verdict: there is no adapter for this engine.")
	case v.Keys < fewKeys:
		v.say("Too few keys: any filter does.")
	case v.Bytes <= v.Cache:
		v.say("Nothing to gain: all tables, %s, fit into the block cache of %s.",
			megabytes(float64(v.Bytes)), megabytes(float64(v.Cache)))
	case v.Lookups == 0:
		v.say("No verdict: no absent keys were found between the keys.")
	case v.Engine == "pebblev2" && get-has >= worth && v.deepFilters(): // v1 may have no Split
		v.say("Look up absent keys with %s.Has: %s reads per 1,000, not the %s of Get (both "+
			"counted). L6 has the filters for it already.", v.Engine, digits(has), digits(get))
		v.Code = []string{v.lookup()}
		return filtersNow
	case pebble && get-everywhere >= worth:
		v.say("Use ribbon filters, and look up absent keys with %s.Has: %s reads per 1,000 "+
			"(computed), not %s (counted).", v.Engine, digits(everywhere), digits(get))
		v.Code = []string{newRibbon(10), v.configure(""), v.lookup()}
		return ribbonFilters
	case get-ribbon >= worth:
		v.say("Use ribbon filters: %s reads per 1,000 lookups of absent keys (computed), not %s "+
			"(counted).", digits(ribbon), digits(get))
		v.Code = []string{newRibbon(10), v.configure("")}
		return byGet
	case bytes-smallBytes >= memory && v.Sum(small.reads)-get < worth/2:
		v.say("Use ribbon filters of 7 bits to save memory: %s (computed), not %s. The reads stay "+
			"about the same.", megabytes(smallBytes), megabytes(bytes))
		v.Code = []string{newRibbon(7), v.configure("WithoutL6()")}
		return small
	default:
		v.say("Keep what you have: no other filter saves a read in a hundred lookups.")
	}
	return setup{current.reads, filtersNow.bytes}
}

func (v *Verdict) say(format string, args ...any) { v.Sentence = fmt.Sprintf(format, args...) }

func newRibbon(bits int) string { return fmt.Sprintf("p, err := policy.NewRibbon(%d)", bits) }

// deepFilters reports whether nearly all tables of L6 have filters, which only Has consults.
func (v *Verdict) deepFilters() bool {
	for _, l := range v.Levels {
		if l.Number == 6 {
			return 10*l.Unfiltered < l.Tables
		}
	}
	return false
}

// configure returns the line that configures a database, with an option of the adapter or none. In
// goleveldb it also turns off the compactions that lookups of absent keys cause.
func (v *Verdict) configure(option string) string {
	if v.Engine == "goleveldb" {
		option = "WithoutSeekCompactions()"
	}
	if option != "" {
		option = fmt.Sprintf(", %s.%s", v.Engine, option)
	}
	return fmt.Sprintf("err = %s.Configure(options, p%s)", v.Engine, option)
}

// lookup returns the line that looks up a key.
func (v *Verdict) lookup() string { return fmt.Sprintf("found, err := %s.Has(db, key)", v.Engine) }

// counted says what was counted, and of how many keys.
func (v *Verdict) counted() string {
	ranges := v.Sum(func(l *Level) float64 { return l.Ranges }) / 1000
	bare := v.Sum(func(l *Level) float64 { return l.Bare })
	all := ""
	if get, has := v.Sum(v.Get), v.Sum(filtersNow.reads); get != has {
		all = fmt.Sprintf(", its adapter's Has %s", digits(has))
	}
	return fmt.Sprintf("Counted with %d absent keys between %d of yours: each lies in the range of "+
		"%.1f tables. For 1,000 of them, the engine's own Get reads %s data blocks%s, and without "+
		"filters %s. For 1,000 keys of random bytes it reads %s, for keys beyond yours none.",
		v.Lookups, v.Sampled, ranges, digits(v.Sum(v.Get)), all, digits(bare), digits(v.Random))
}

// filters says how much memory the filters take, and how much ribbon filters would.
func (v *Verdict) filters() string {
	all, without := 0, 0
	for _, l := range v.Levels {
		all, without = all+l.Tables, without+l.Unfiltered
	}
	text := fmt.Sprintf("%d of %d tables have filters, of %s; ribbon filters in all would have %s "+
		"(computed). %s", all-without, all, megabytes(v.Sum(filtersNow.bytes)),
		megabytes(v.Sum(ribbonFilters.bytes)), v.room(all))
	if v.Unread > 0 {
		text += fmt.Sprintf(" %d tables could not be read and are left out.", v.Unread)
	}
	return text
}

// room says which settings keep filters and indexes in memory. They need twice their size, for
// the reasons that the comments of CheckCache give.
func (v *Verdict) room(tables int) string {
	size := v.Sum(filtersNow.bytes) + float64(v.IndexBytes)
	text := fmt.Sprintf("Filters and indexes, together %s, need a block cache of %s or more, besides "+
		"the data", megabytes(size), megabytes(2*size))
	if v.Engine != "goleveldb" {
		return text + fmt.Sprintf(" and two memtables: Options.Cache, which has %s.",
			megabytes(float64(v.Cache)))
	}
	const openFiles = 500 // goleveldb's default
	text += fmt.Sprintf(": BlockCacheCapacity, by default %s.", megabytes(float64(v.Cache)))
	if tables > openFiles {
		text += fmt.Sprintf(" Set OpenFilesCacheCapacity to %d or more; by default it is %d.",
			tables+tables/4, openFiles)
	}
	return text
}

// advice returns what users who follow the sentence must know.
func (v *Verdict) advice() (all []string) {
	if len(v.Code) == 0 {
		return nil
	}
	if v.Engine == "goleveldb" {
		tuned := v.Sum(func(l *Level) float64 { return l.Tuned })
		name := ", policy.WithName(policy.NameGoLevelDB)"
		if v.Names[policy.Name] > 0 {
			name = ""
		}
		return []string{fmt.Sprintf("If C++ LevelDB or plain goleveldb must use the filters: "+
			"policy.NewBloom(10%s, policy.WithTuning()), with %s reads (simulated).",
			name, digits(tuned))}
	}
	if v.Code[len(v.Code)-1] == v.lookup() {
		all = append(all, "In tables that were written without Configure, a present key costs Has a "+
			"read for each older version in a lower level.")
	}
	if len(v.Code) == 1 {
		all = append(all, fmt.Sprintf("With ribbon filters, Has would read %s (computed).",
			digits(v.Sum(ribbonFilters.reads))))
	}
	return all
}

// digits writes a number with two digits that count.
func digits(n float64) string {
	switch {
	case n >= 10 || n == 0:
		return fmt.Sprintf("%.0f", n)
	case n >= 1:
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.2g", n)
}

func megabytes(n float64) string { return digits(n/1e6) + " MB" }
