package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
	"github.com/levelbloom/levelbloom/bench/internal/keylist"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// vocabulary returns what the tags of flags refer to.
func vocabulary() kong.Vars {
	return kong.Vars{
		"enginesHelp": "Filters in real databases, on disks of any speed: speed, reads avoided, " +
			"memory. It ends with advice (3 minutes), and runs if you name no subcommand.",
		"filtersHelp": "Speed of filters outside of any database: lookups and builds.",
		"ratesHelp": "False-positive rates by shape of keys, density and number of keys, and " +
			"whether they keep their bounds.",
		"sizeHelp": "A calculator: number of keys, bits per key, rate of false positives, " +
			"memory. Give those that you know.",
		"reportHelp": "Runs the above and makes one page of it: which filter for your keys, " +
			"which setting, and what it costs (5 minutes; with --quick 1 minute).",
		"resultsHelp": "Writes the tables of bench/RESULTS.md, and measures them anew if asked to.",
		"playHelp": "Serves a page that shows filters at work: bits, probes, and why a key is a " +
			"false positive.",

		"engines":       joined(engine.Engines, engine.Name),
		"engineFilters": "none,builtin,bloom,tuned,ribbon:7,ribbon+L6,ribbon",
		"works":         joined(filterbench.Works, func(w filterbench.Work) string { return string(w) }),
		"filterNs":      "36,500,10k,1M",
		"ns":            "8,20,36,64,500,10k,100k,1M",
		"shapes":        joined(keys.Shapes, keys.ShapeName),
		"all":           joined(keys.Densities, keys.DensityName),
		"tmp":           os.TempDir(),
		"nHelp": "Keys per filter, such as 36,10k: those of 2 KiB of data in goleveldb, those of a " +
			"table in Pebble.",
		"densityHelp": "Part of a range of keys that is present: alternating (every second key), " +
			"63% (as LevelDB's db_bench leaves), 10%, or beyond (all; the absent keys follow). " +
			"Unordered shapes have none.",
		"keysHelp": fmt.Sprintf("Your own keys: a file with a key per line, or a database of "+
			"goleveldb, LevelDB, Pebble or RocksDB (format_version 0 and 2), which is only read. A "+
			"random third of the keys stays out of the filters and is looked up as absent. Of "+
			"more than %d MiB of keys it takes a sample.", keylist.MaxBytes>>20),
	}
}

// filtersHelp explains --filters.
const filtersHelp = `Filters are named as policy.FromString takes them: bloom:10, tuned:10,
ribbon:7, bloom:10,tuning=0.02. Those without a number of bits have --bits.`

func joined[T any](all []T, name func(T) string) string {
	var names []string
	for _, x := range all {
		names = append(names, name(x))
	}
	return strings.Join(names, ",")
}

// shapesHelp lists the shapes of keys, each with an example.
func shapesHelp() string {
	var b strings.Builder
	b.WriteString("Shapes of keys, with an example of each:\n\n")
	for _, s := range keys.Shapes {
		fmt.Fprintf(&b, "    %-13s %.58s\n", s.Name, s.Example())
	}
	return b.String()
}

// keyFlags choose the keys of a run.
type keyFlags struct {
	Shape   string `default:"decimal" enum:"${shapes}" help:"Shape of the keys."`
	Density string `default:"63%" enum:"${all}" help:"${densityHelp}"`
	Keys    string `placeholder:"FILE" help:"${keysHelp}"`
}

// choose returns the shape and the density, and the user's own keys if --keys names them.
func (f *keyFlags) choose(j *job, out *outputs) (s keys.Shape, d keys.Density, own keys.List,
	err error) {
	if f.Keys == "" {
		s = keys.Shapes[slices.IndexFunc(keys.Shapes, func(s keys.Shape) bool { return s.Name == f.Shape })]
		return s, s.Densities(densities([]string{f.Density}))[0], nil, nil
	}
	if j.given("shape") || j.given("density") {
		return s, d, nil, errors.New("--keys has a shape and a density: leave out --shape and " +
			"--density")
	}
	f.Shape, f.Density = "", "" // the report need not mention them
	own, err = ownKeys(j, f.Keys, out)
	return own.Shape(), own.Shape().Density, own, err
}

// densities returns the densities of those names.
func densities(names []string) (all []keys.Density) {
	for _, d := range keys.Densities {
		if slices.Contains(names, d.Name) {
			all = append(all, d)
		}
	}
	return all
}

// ownKeys returns the keys that --keys names, and notes where they come from.
func ownKeys(j *job, path string, out *outputs) (keys.List, error) {
	for _, file := range []output{out.JSON, out.SVG} {
		if sameFile(file.path, path) {
			return nil, fmt.Errorf("--keys: %s would be replaced: choose another file for what "+
				"is measured", file.path)
		}
	}
	list, sampled, err := keylist.Read(path)
	if err != nil {
		return nil, fmt.Errorf("--keys: %w", err)
	}
	sample := ""
	if sampled {
		sample = ", a sample"
	}
	j.note = fmt.Sprintf("own: %d keys of %s%s. A random third of them, which no filter knows, "+
		"is looked up as absent.", len(list), path, sample)
	return list, nil
}

// fitting returns those numbers of present keys for which the user's own keys are enough, or an
// error if a number that was asked for is too large.
func fitting(own keys.List, ns []int, asked bool) (fit []int, err error) {
	for _, n := range ns {
		if missing := own.Fits(n, 0); missing == nil {
			fit = append(fit, n)
		} else if err == nil {
			err = fmt.Errorf("--keys: %w", missing)
		}
	}
	if asked || fit == nil {
		return fit, err
	}
	return fit, nil
}

// A count is a number of keys, such as 36, 10k or 1M.
type count int

func (c *count) UnmarshalText(text []byte) error {
	n, err := keys.ParseN(string(text), math.MaxInt/1_000_000*1_000_000)
	*c = count(n)
	return err
}

func (c count) String() string { return keys.FormatN(int(c)) }

func counts(all []count) (ns []int) {
	for _, n := range all {
		ns = append(ns, int(n))
	}
	return ns
}

// A probability is above 0 and below 1, such as 0.01 or 1%.
type probability float64

func (p *probability) UnmarshalText(text []byte) error {
	number, isPerCent := strings.CutSuffix(string(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if isPerCent {
		x /= 100
	}
	if err != nil || !(x > 0 && x < 1) { // NaN fails every comparison
		return fmt.Errorf("%q: pass a rate above 0 and below 1, such as 0.01 or 1%%", text)
	}
	*p = probability(x)
	return nil
}

// A size is a number of bytes, such as 16MiB.
type size float64

func (s *size) UnmarshalText(text []byte) error {
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if number, ok := strings.CutSuffix(string(text), unit); ok {
			x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err == nil && x > 0 && x <= 1<<30 {
				*s = size(x * math.Pow(1024, float64(i+1)))
				return nil
			}
		}
	}
	return fmt.Errorf("%q: pass a size above 0 such as 500KiB, 16MiB or 2GiB", text)
}

// String shows three digits that count.
func (s size) String() string {
	x, units := float64(s), []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	for x >= 1024 && len(units) > 1 {
		x, units = x/1024, units[1:]
	}
	decimals := 0
	if units[0] != "bytes" {
		decimals = max(0, 2-int(math.Log10(x)))
	}
	return fmt.Sprintf("%.*f %s", decimals, x, units[0])
}
