package verdict

import (
	"fmt"
	"maps"
	"slices"
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

const (
	fewKeys = 5000
	// littleData is what may stay in the block cache while Pebble's reads are counted.
	littleData = 1 << 20
	// compression is how much smaller tables may be than their blocks in the cache.
	compression = 4
	// worth is how many reads per 1,000 lookups a change must save: one in a hundred lookups.
	worth = 10
)

// None returns the verdict where nothing can be said, and why not.
func None(why string) *Verdict { return &Verdict{Sentence: "No verdict: " + why + "."} }

// Of returns the verdict on a database. The first rule that holds decides.
func Of(f *Figures) *Verdict {
	now := Row{"now", f.Get, true, f.Total.FilterBytes}
	without := Row{"without filters", f.Bare, true, 0}
	then := Row{"with the code below", f.Ribbon, false, f.Total.RibbonBytes}
	if f.Old == 0 { // only the lookups may change
		then.Reads, then.Counted, then.FilterBytes = f.Has, true, f.Total.FilterBytes
	}
	nothing := func(why string, rows ...Row) *Verdict {
		return &Verdict{Sentence: "Nothing to do: " + why + ".", Rows: rows,
			Facts: facts(f.unused(), f.Memory)}
	}
	switch {
	case f.Keys < fewKeys:
		return nothing("with so few keys, any filter does")
	case f.Bytes <= f.Cache/compression:
		return nothing(fmt.Sprintf("all tables, %s, fit into the %s that the block cache has for them",
			Megabytes(float64(f.Bytes)), Megabytes(float64(f.Cache))))
	case f.Bytes <= littleData:
		return nothing("with so little data, any filter does")
	case f.Lookups == 0:
		return None("no absent keys were found between the keys")
	case now.Reads-then.Reads < worth:
		return nothing("other filters would save less than 1 read in 100 lookups of absent keys",
			now, without)
	}
	rows := []Row{now, then, without}
	others := "If your program looks up no absent keys, change nothing."
	switch {
	case f.Total.FilterBytes == 0: // a present key is absent from the tables above its own
		rows = rows[:2]
		others = "Filters also save reads of present keys in lower levels, which were not counted."
	case f.Engine != "goleveldb" && f.Old > 0:
		rows = slices.Insert(rows, 1, Row{"now, by Has", f.Has, true, f.Total.FilterBytes})
	}
	return &Verdict{
		Sentence: fmt.Sprintf("%s: 1,000 lookups of absent keys then read %s data blocks, not %s. %s",
			f.advice(), Digits(then.Reads), Digits(now.Reads), others),
		Rows:  rows,
		Code:  f.code(),
		Facts: facts(f.lastLevel(), f.unused(), f.old(), f.Memory, f.sharing()),
	}
}

// facts returns those that are not empty.
func facts(all ...string) []string {
	return slices.DeleteFunc(all, func(fact string) bool { return fact == "" })
}

func (f *Figures) advice() (what string) {
	what = "Use ribbon filters"
	if f.Old == 0 {
		what = "Keep the filters"
	}
	if f.Engine != "goleveldb" {
		what += fmt.Sprintf(", and look keys up with %s.Has", f.Engine)
	}
	return what
}

const (
	openCode = `// go get github.com/levelbloom/levelbloom/adapters/ADAPTER
p, err := policy.NewRibbon(10)
if err != nil {
	log.Fatal(err)
}
options := &pebble.Options{} // and your own
if err := ADAPTER.Configure(options, p); err != nil {
	log.Fatal(err)
}
db, err := pebble.Open("db", options)
if err != nil {
	log.Fatal(err)
}`
	// By default, lookups of absent keys cause compactions in goleveldb.
	goleveldbOptions = "opt.Options{DisableSeeksCompaction: true}"
	// Pebble v1's default has neither marks nor what Rewrite writes.
	pebblev1Options = "// and your own\noptions.FormatMajorVersion = pebble.FormatRangeKeys"
	rewriteCode     = `
// Once, to convert the tables that exist; db may be in use meanwhile:
ctx := context.Background()
if err := ADAPTER.Rewrite(ctx, options, db, nil); err != nil {
	log.Fatal(err)
}`
	hasCode = `
log.Println(ADAPTER.Has(db, []byte("key"))) // or ADAPTER.Get`
)

// code returns the lines that do what the advice says.
func (f *Figures) code() []string {
	code, names := openCode+rewriteCode, []string{"ADAPTER", f.Engine}
	if f.Old == 0 { // the program has these lines
		code = ""
	}
	switch f.Engine {
	case "goleveldb":
		names = append(names, "pebble.Options{}", goleveldbOptions, "pebble.Open", "leveldb.OpenFile")
	case "pebblev1":
		names = append(names, "// and your own", pebblev1Options)
		fallthrough
	default:
		code += hasCode
	}
	return strings.Split(strings.NewReplacer(names...).Replace(strings.TrimPrefix(code, "\n")), "\n")
}

// old says which tables have no ribbon filters, and how they get them.
func (f *Figures) old() string {
	if f.Old == 0 {
		return ""
	}
	all := f.Total.Tables - f.Total.Filters[NoKeys]
	return fmt.Sprintf("%d of %d tables have no ribbon filters: Rewrite writes their %s anew, and "+
		"what overlaps them above. Programs without levelbloom can still open the database.",
		all-f.Total.Filters["ribbon"], all, Megabytes(float64(f.Old)))
}

// lastLevel says why Pebble's own Get reads so much.
func (f *Figures) lastLevel() string {
	last := len(f.Levels) - 1
	if f.Engine == "goleveldb" || f.Levels[last].Number < 6 || f.Total.FilterBytes == 0 {
		return ""
	}
	return fmt.Sprintf("Pebble's own Get asks no filter in L6, which has %s of %s entries.",
		Thousands(f.Levels[last].Entries), Thousands(f.Total.Entries))
}

// unused says which filters the program may not use, although they were used to count.
func (f *Figures) unused() string {
	for _, name := range slices.Sorted(maps.Keys(f.Total.Policies)) {
		if len(f.Configured) > 0 && !slices.Contains(f.Configured, name) {
			return fmt.Sprintf("The program's options have no policy %s for new tables. Unless their "+
				"Filters have it, as after Configure, lookups do not use its filters.", name)
		}
	}
	return ""
}

// sharing says what to do if other programs must read the filters, as LevelDB's names suggest.
func (f *Figures) sharing() string {
	ours := f.Total.Policies[policy.NameLevelDB] + f.Total.Policies[policy.NameGoLevelDB]
	if f.Engine != "goleveldb" || ours == 0 {
		return ""
	}
	return "If C++ LevelDB or plain goleveldb must use the filters too, take policy.NewBloom(10) " +
		"under the name that it looks for."
}

// Digits writes a number with two digits that count, or more above 100, and 0 for next to nothing.
func Digits(n float64) string {
	switch {
	case n >= 9.95 || n < 1e-4:
		return Thousands(int64(n + 0.5))
	case n >= 1:
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.2g", n)
}

// Thousands writes a whole number such as 135,300.
func Thousands(n int64) string {
	s := fmt.Sprint(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// MiB is the unit of sizes, as in Check.
const MiB = 1 << 20

// Megabytes writes a number of bytes.
func Megabytes(n float64) string { return Digits(n/MiB) + " MiB" }
