package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verify"
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
	rows := []Row{{"now", f.Get, true, f.Total.FilterBytes}}
	if f.isPebble() {
		rows[0].Setup = "now, by DB.Get"
		if f.Total.FilterBytes > 0 {
			setup := "now, by Has"
			if f.unused() != "" {
				setup = "with Configure, by Has"
			}
			rows = append(rows, Row{setup, f.Has, true, f.Total.FilterBytes})
		}
	}
	then := Row{"with the code below (computed)", f.Ribbon, false, f.Total.RibbonBytes}
	without := Row{"without filters", f.Bare, true, 0}
	memory, settings := f.caches()
	nothing := func(why string, rows ...Row) *Verdict {
		what := "Nothing to do"
		if f.BlockCache.Lacks() || f.OpenTables.Lacks() {
			what += " but for the caches"
		}
		return &Verdict{Sentence: what + ": " + why + ".", Rows: rows, Facts: facts(memory, f.unused())}
	}
	saves := f.Get-f.Ribbon >= worth
	partly := f.lackFilters() && f.Total.FilterBytes > 0 // absent keys there may be few, or none
	switch {
	case f.Bytes <= f.Cache/compression && !f.BlockCache.Lacks():
		return nothing(fmt.Sprintf("all tables, %s, fit into the %s that the block cache has for them",
			Megabytes(float64(f.Bytes)), Megabytes(float64(f.Cache))))
	case f.Bytes <= littleData:
		return nothing("too little data for filters to matter")
	case f.Lookups == 0 && f.Old == 0:
		return nothing("all tables have ribbon filters")
	case f.Lookups == 0 && !partly:
		return None("no absent keys were found between the keys")
	case f.Old > 0 && !saves && !partly:
		return nothing("other filters would save less than 1 read in 100 lookups of absent keys",
			append(rows, without)...)
	}
	v := &Verdict{Sentence: f.advice(), Code: f.code(settings),
		Facts: facts(f.unused(), f.old(), memory)}
	switch {
	case f.Old == 0 && f.isPebble():
		v.Sentence += fmt.Sprintf("1,000 lookups of absent keys read %s data blocks by %s.Has, and %s "+
			"by DB.Get.", Digits(f.Has), f.Engine, Digits(f.Get))
	case f.Old == 0: // goleveldb stores no options that tell
		v.Sentence += fmt.Sprintf("1,000 lookups of absent keys read %s data blocks in a program that "+
			"calls goleveldb.Configure.", Digits(f.Get))
	case saves:
		rows = append(rows, then)
		v.Sentence += fmt.Sprintf("1,000 lookups of absent keys then read %s data blocks, not %s",
			Digits(f.Ribbon), Digits(f.Get))
		if f.isPebble() && f.Total.FilterBytes > 0 {
			v.Sentence += fmt.Sprintf(", and %s with Has alone", Digits(f.Has))
		}
		v.Sentence += "."
	default:
		v.Sentence += "Few absent keys were found between their keys, but each of these reads a block."
	}
	switch {
	case f.Total.FilterBytes == 0: // a present key is absent from the tables above its own
		v.Sentence += " Filters also save reads of present keys in lower levels, which were not counted."
	case f.Old > 0 && !partly:
		v.Sentence += " If your program looks up no absent keys, change nothing."
		fallthrough
	default:
		rows = append(rows, without)
	}
	v.Rows = rows
	return v
}

// facts returns those that are not empty.
func facts(all ...string) []string {
	return slices.DeleteFunc(all, func(fact string) bool { return fact == "" })
}

func (f *Figures) isPebble() bool { return f.Engine != "goleveldb" }

// lackFilters reports whether tables without filters have more than one key in a hundred.
func (f *Figures) lackFilters() bool { return f.Unfiltered > f.Keys/100 }

// isConfigured reports whether new tables get ribbon filters, as far as is known.
func (f *Figures) isConfigured() bool {
	return f.Total.Filters["ribbon"] > 0 && !slices.Contains(f.Configured, "none") &&
		!slices.Contains(f.Configured, verify.Pebbles)
}

// advice begins the sentence.
func (f *Figures) advice() string {
	what, why := "Use ribbon filters", ": "
	switch {
	case f.Old == 0 && f.unused() != "":
		return "All tables have ribbon filters, but the program's options do not name them. With " +
			"Configure, "
	case f.Old == 0:
		return "All tables have ribbon filters: "
	}
	if f.lackFilters() {
		what += " and " + f.Engine + ".Rewrite"
		why = fmt.Sprintf(": %d of %d tables have no filter. ", f.Total.Filters[NoFilter],
			f.Total.Tables-f.Total.Filters[NoKeys])
	}
	if f.isConfigured() {
		what = "Call " + f.Engine + ".Rewrite"
	}
	if f.isPebble() {
		what += fmt.Sprintf(", and look keys up with %s.Has", f.Engine)
	}
	return what + why
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
}
`
	// By default, lookups of absent keys cause compactions in goleveldb.
	goleveldbOptions = "opt.Options{DisableSeeksCompaction: true}"
	// Pebble v1's default has neither marks nor what Rewrite writes.
	pebblev1Format = "\noptions.FormatMajorVersion = pebble.FormatRangeKeys"
	rewriteCode    = `// Once, to convert the tables that exist; db may be in use meanwhile:
ctx := context.Background()
if err := ADAPTER.Rewrite(ctx, options, db, nil); err != nil {
	log.Fatal(err)
}
`
	hasCode = `log.Println(ADAPTER.Has(db, []byte("key"))) // or ADAPTER.Get`
)

// code returns the lines that the program lacks.
func (f *Figures) code(settings string) []string {
	code := openCode + rewriteCode
	switch {
	case f.Old == 0 && f.unused() != "":
		code = openCode
	case f.Old == 0:
		code = ""
	case f.isConfigured():
		code = rewriteCode
	}
	names := []string{"ADAPTER", f.Engine}
	switch f.Engine {
	case "goleveldb":
		names = append(names, "pebble.Options{}", goleveldbOptions, "pebble.Open", "leveldb.OpenFile")
	case "pebblev1":
		settings += pebblev1Format
		fallthrough
	default:
		code += hasCode
	}
	names = append(names, "// and your own", "// and your own"+settings)
	return strings.FieldsFunc(strings.NewReplacer(names...).Replace(code),
		func(c rune) bool { return c == '\n' })
}

// caches says whether they suffice. Code sets those that do not, and Pebble's block cache, whose
// default size is that of two memtables.
func (f *Figures) caches() (fact, code string) {
	options := map[bool]string{true: "Pebble's default", false: "the program's"}[f.Configured == nil]
	block, tables := "Cache = pebble.NewCache(%d << 20)", "MaxOpenFiles = %d"
	if !f.isPebble() {
		options = "goleveldb's default"
		block, tables = "BlockCacheCapacity = %d << 20", "OpenFilesCacheCapacity = %d"
	}
	has, required := f.BlockCache.Has, (f.BlockCache.Required+MiB-1)/MiB*MiB
	block = fmt.Sprintf("options."+block, max(has, required)/MiB)
	fact = fmt.Sprintf("With %s options, the block cache has %s, and lookups need %s there", options,
		Megabytes(float64(has)), Megabytes(float64(required)))
	if f.BlockCache.Lacks() {
		fact += ": set " + block + ", or more for the data"
	}
	if f.BlockCache.Lacks() || f.isPebble() {
		code = "\n" + block
	}
	if f.OpenTables.Lacks() {
		tables = fmt.Sprintf("options."+tables, f.OpenTables.Required)
		fact += "; not all tables stay open: set " + tables
		code += "\n" + tables
	}
	return fact + ".", code
}

// old says which tables have no ribbon filters, and how they get them.
func (f *Figures) old() string {
	if f.Old == 0 {
		return ""
	}
	all := f.Total.Tables - f.Total.Filters[NoKeys]
	return fmt.Sprintf("%d of %d tables have no ribbon filters: Rewrite writes their %s again, and "+
		"the tables above that overlap them. Programs without levelbloom can still open the database.",
		all-f.Total.Filters["ribbon"], all, Megabytes(float64(f.Old)))
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
