package verdict

import (
	"fmt"
	"strings"

	"github.com/levelbloom/levelbloom/policy"
)

// A Verdict says which filters to use, and why.
type Verdict struct {
	Rows     []Row    `json:"rows,omitempty"` // what it compares
	Sentence string   `json:"sentence"`
	Code     []string `json:"code,omitempty"` // lines of Go; none if there is nothing to do
	Facts    []string `json:"facts,omitempty"`
}

// A Row is filters, and a way to look keys up.
type Row struct {
	Setup       string  `json:"setup"`
	Reads       float64 `json:"reads"`   // data blocks read for 1,000 lookups of absent keys
	Counted     bool    `json:"counted"` // or computed
	FilterBytes float64 `json:"filter_bytes"`
}

// Source says where the reads come from.
func (r *Row) Source() string {
	if r.Counted {
		return "counted"
	}
	return "computed"
}

const (
	fewKeys = 5000

	// compression is how much smaller tables may be than their blocks in the cache.
	compression = 4

	// worth is how many reads per 1,000 lookups a change must save: one in a hundred lookups.
	worth = 10
)

// None returns the verdict where nothing can be said, and why not.
func None(why string) *Verdict { return &Verdict{Sentence: "No verdict: " + why + "."} }

// Of returns the verdict on a database. The first rule that holds decides.
func Of(f *Figures) *Verdict {
	total := f.Total()
	now := Row{"now", total.Get, true, total.FilterBytes}
	without := Row{"without filters", total.Bare, true, 0}
	then := Row{"with the code below", total.Ribbon, false, total.RibbonBytes}
	if ribbons, all := total.ribbons(); ribbons == all { // only the lookups may change
		then.Reads, then.Counted, then.FilterBytes = total.Has, true, total.FilterBytes
	}
	nothing := func(why string) *Verdict {
		return &Verdict{Sentence: "Nothing to do: " + why + "."}
	}
	switch {
	case f.Keys < fewKeys:
		return nothing("with so few keys, any filter does")
	case f.Bytes <= f.Cache/compression:
		return nothing(fmt.Sprintf("all tables, %s, fit into the block cache of %s",
			Megabytes(float64(f.Bytes)), Megabytes(float64(f.Cache))))
	case f.Lookups == 0:
		return None("no absent keys were found between the keys")
	case now.Reads-then.Reads < worth:
		v := nothing("no other filter saves a read in a hundred lookups")
		v.Rows = []Row{now, without}
		v.say(f.Memory)
		return v
	}
	v := &Verdict{Rows: []Row{now, then, without}}
	others := "If your program looks up no absent keys, change nothing."
	if total.FilterBytes == 0 { // a present key is absent from the tables above its own
		others = "Filters also save reads of present keys in lower levels, which were not counted."
	}
	v.Sentence = fmt.Sprintf("%s: %s reads per 1,000 lookups of absent keys (%s), not %s (counted). "+
		"%s", v.advise(f, then.Counted), Digits(then.Reads), then.Source(), Digits(now.Reads), others)
	v.say(f.old(&total), f.Memory, f.level0(&total), f.sharing(&total))
	return v
}

// say adds the first facts that are not empty.
func (v *Verdict) say(facts ...string) {
	const most = 3
	for _, fact := range facts {
		if fact != "" && len(v.Facts) < most {
			v.Facts = append(v.Facts, fact)
		}
	}
}

// advise adds the code, and says what it does.
func (v *Verdict) advise(f *Figures, keep bool) (what string) {
	v.Code = []string{"p, err := policy.NewRibbon(10)"}
	if f.Engine == "goleveldb" { // there, lookups of absent keys cause compactions by default
		v.Code = append(v.Code, "options.DisableSeeksCompaction = true")
	}
	v.Code = append(v.Code, fmt.Sprintf("err = %s.Configure(options, p)", f.Engine))
	what = "Keep the filters"
	if !keep {
		what = "Use ribbon filters"
		v.Code = append(v.Code,
			fmt.Sprintf("err = %s.Rewrite(ctx, options, db, nil) // once db is open", f.Engine))
	}
	if f.Engine != "goleveldb" {
		v.Code = append(v.Code, fmt.Sprintf("found, err := %s.Has(db, key)", f.Engine))
		what += fmt.Sprintf(", and look up absent keys with %s.Has", f.Engine)
	}
	return what
}

// old says which tables have no ribbon filters, and how they get them.
func (f *Figures) old(total *Level) (said string) {
	ribbons, all := total.ribbons()
	if ribbons == all {
		return ""
	}
	var levels []string
	for _, l := range f.Levels {
		if n := l.Filters[NoFilter]; n > 0 {
			levels = append(levels, fmt.Sprintf("%d in L%d", n, l.Number))
		}
	}
	none := total.Filters[NoFilter]
	if none > 0 {
		said = fmt.Sprintf("%d of %d tables have no filter (%s): lookups read them. ", none, all,
			strings.Join(levels, ", "))
	}
	if n := all - ribbons - none; n > 0 {
		said += fmt.Sprintf("%d of %d tables have other filters. ", n, all)
	}
	said += fmt.Sprintf("Rewrite gives them ribbon filters while the database is in use. It writes "+
		"their %s anew, with what lies above them.", Megabytes(float64(f.Old)))
	if f.Engine != "goleveldb" {
		said += fmt.Sprintf(" Until then, Has reads %s (counted).", Digits(total.Has))
	}
	return said
}

// level0 recommends more bits for Pebble's L0 if that has few of the keys, and causes most reads.
func (f *Figures) level0(total *Level) string {
	l := f.Levels[0]
	if f.Engine == "goleveldb" || l.Number != 0 || 10*l.RibbonBytes > total.RibbonBytes ||
		l.Ribbon < 1 || l.Ribbon < total.Ribbon/2 {
		return ""
	}
	return fmt.Sprintf("%s of these reads are in L0, which has few keys. More bits there save "+
		"them: with p16 of policy.NewRibbon(16), err = %s.Configure(options, p, "+
		"%[2]s.WithLevel(0, p16))", Digits(l.Ribbon), f.Engine)
}

// sharing says which filters other programs read, if the database may have come from one.
func (f *Figures) sharing(total *Level) string {
	program, name, tuning := "", "", ""
	switch {
	case f.Engine != "goleveldb":
	case total.Policies[policy.NameGoLevelDB] > 0:
		program, name = "plain goleveldb", ", policy.WithName(policy.NameGoLevelDB)"
	case total.Policies[policy.Name] > 0:
		program = "C++ LevelDB"
	}
	if program == "" {
		return ""
	}
	const dense = 0.02 // of the lookups without filters: twice what random keys have
	if total.Get > dense*total.Bare {
		tuning = ", policy.WithTuning()"
	}
	return fmt.Sprintf("If %s must use the filters too: policy.NewBloom(10%s%s).",
		program, name, tuning)
}

// Digits writes a number with two digits that count, 0 for next to nothing.
func Digits(n float64) string {
	switch {
	case n >= 9.95 || n < 1e-4:
		return fmt.Sprintf("%.0f", n)
	case n >= 1:
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.2g", n)
}

// Megabytes writes a number of bytes.
func Megabytes(n float64) string { return Digits(n/1e6) + " MB" }
