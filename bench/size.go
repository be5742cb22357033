package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy/sizing"
)

// sizeFlags is the flags of `bench size`.
type sizeFlags struct {
	*flags
	n, memory, perFilter string
	fpp                  float64
	levels               bool
}

func newSizeFlags() *sizeFlags {
	f := &sizeFlags{flags: newFlags("size", "Computes how many bits per key to configure, "+
		"and what it costs, for each kind of filter. The rates are those of well-mixed keys; for "+
		"dense numbers see bench rates.")}
	f.StringVar(&f.n, "n", "10M", "`keys` in the database")
	f.rateFlag(&f.fpp, "fpp", 0.01, "the `rate` of false positives to reach")
	f.StringVar(&f.memory, "memory", "", "the `size` of all filters, such as 16MiB, instead of "+
		"-fpp")
	f.StringVar(&f.perFilter, "per-filter", keys.FormatN(ratebench.TableKeys), "`keys` that share "+
		"a filter: all of a table in Pebble, those in 2 KiB of data in goleveldb")
	f.BoolVar(&f.levels, "levels", false, "also distribute the bits over the levels of a Pebble "+
		"database, each ten times as large as the one above. L6, which "+
		"has nine tenths of the keys, gets none: Get asks no filter there")
	return f
}

// A sizeRecord is what one kind of filter takes in a level or in the whole database.
type sizeRecord struct {
	Kind  string  `json:"kind" doc:"kind of filter"`
	Level string  `json:"level" doc:"level of the tree, or all"`
	Keys  int     `json:"keys" doc:"keys with filters"`
	Bits  float64 `json:"bits_per_key" doc:"bits per key; 0 for no filter"`
	Bytes uint64  `json:"bytes" doc:"bytes of all these filters"`
	FPP   float64 `json:"fpp" doc:"expected false positives per lookup of an absent key"`
}

// config checks the flags and returns what they ask for, without a kind.
func (f *sizeFlags) config() (s sizer, err error) {
	const most = math.MaxInt / 1_000_000 * 1_000_000 // FormatN writes it as millions
	if s.n, err = keys.ParseN(f.n, most); err != nil {
		return s, fmt.Errorf("-n: %w", err)
	}
	if s.perFilter, err = keys.ParsePerFilter(f.perFilter); err != nil {
		return s, fmt.Errorf("-per-filter: %w", err)
	}
	s.perFilter = min(s.perFilter, s.n)
	switch {
	case f.memory != "" && f.given["fpp"]:
		return s, errors.New("-fpp and -memory: pass one of them")
	case f.memory != "":
		f.unused("fpp")
		if s.bits, err = bitsOfMemory(f.memory, s.n); err != nil {
			return s, fmt.Errorf("-memory: %w", err)
		}
	case !(f.fpp > 0 && f.fpp < 1):
		return s, fmt.Errorf("-fpp %v: pass one above 0 and below 1, such as 0.01 or 1%%", f.fpp)
	}
	return s, nil
}

// A sizer computes the records of one kind.
type sizer struct {
	kind.Kind
	n, perFilter int
	bits         float64 // per key, if -memory gives them
}

// record returns what n keys with the given bits per key take.
func (s sizer) record(level string, n int, bits float64) (sizeRecord, error) {
	p, err := s.New(bits)
	if err != nil {
		return sizeRecord{}, err
	}
	r := sizeRecord{Kind: s.Name, Level: level, Keys: n, Bits: bits}
	r.FPP = p.(sizing.Policy).FPP(min(n, s.perFilter))
	r.Bytes, err = sizing.Memory(p.(sizing.Policy), n, s.perFilter)
	return r, err
}

// size is the subcommand that says how many bits per key to configure.
func size(_ context.Context, args []string, stdout io.Writer) error {
	f := newSizeFlags()
	s, err := prepare(f.flags, args, stdout, f.config)
	if err != nil {
		return err
	}
	r := f.report()
	o := newSizeOutcome(s.n)
	for _, s.Kind = range kind.All {
		bits, err := s.bits, error(nil)
		if f.memory == "" {
			bits, err = sizing.BitsFor(s.Name, s.perFilter, f.fpp)
		}
		if err == nil {
			err = o.add(s, bits, f.levels)
		}
		if err != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %v.", s.Name, err))
		}
	}
	r.Records, r.Tables = o.records, []report.Table{o.whole}
	if f.levels {
		r.Tables = append(r.Tables, o.levels)
	}
	if len(o.records) == 0 {
		return errors.New(strings.Join(r.Notes, "\n"))
	}
	return f.outputs.finish(r, stdout, nil)
}

// A sizeOutcome is what `bench size` shows.
type sizeOutcome struct {
	records       []sizeRecord
	whole, levels report.Table
	tree          []int // keys of each level with filters
}

func newSizeOutcome(n int) *sizeOutcome {
	o := &sizeOutcome{
		whole: report.Table{Title: "What to configure", Keys: 1, Columns: []string{"filter",
			"bits per key", "filters (MiB)", "false positives (%)", "constructor"}},
		levels: report.Table{Title: "The same bits per key on average, distributed over the " +
			"levels of Pebble but L6, in which Get asks no filter (sizing.Levels for " +
			"ConfigureLevels)",
			Keys: 1, Columns: []string{"filter"}},
		tree: treeOf(n),
	}
	for level, n := range o.tree {
		if n > 0 {
			o.levels.Columns = append(o.levels.Columns, fmt.Sprintf("bits in L%d", level))
		}
	}
	o.levels.Columns = append(o.levels.Columns, "filters (MiB)", "false positives per 1000 misses",
		"without distribution")
	return o
}

// treeOf returns the keys of the levels of a Pebble database of n keys, but for L6. Every level is
// ten times as large as the one above; small levels are empty.
func treeOf(n int) []int {
	const least = 1000
	tree := make([]int, 6)
	size := n
	for level := len(tree) - 1; level > 0; level-- {
		size /= 10
		if size < least {
			break
		}
		tree[level] = size
	}
	tree[0] = min(least, n)
	return tree
}

// add adds a kind, whose number of bits per key is the same in the whole database.
func (o *sizeOutcome) add(s sizer, bits float64, levels bool) error {
	all, err := s.record("all", s.n, bits)
	if err != nil {
		return err
	}
	o.records = append(o.records, all)
	o.whole.Add(s.Name, report.Number{Value: bits, Decimals: 1},
		mebibytes(all.Bytes), significant(100*all.FPP), s.Call(bits))
	if !levels {
		return nil
	}
	policies, err := sizing.Levels(s.Name, o.tree, bits)
	if err != nil {
		return err
	}
	row := []any{s.Name}
	sum, even, bytes := 0.0, 0.0, uint64(0)
	for level, n := range o.tree {
		if n == 0 {
			continue
		}
		r := sizeRecord{Kind: s.Name, Level: fmt.Sprintf("L%d", level), Keys: n, FPP: 1}
		perFilter := min(n, s.perFilter)
		if p, ok := policies[level].(sizing.Policy); ok {
			r.FPP = p.FPP(perFilter)
			if r.Bytes, err = sizing.Memory(p, n, perFilter); err != nil {
				return err
			}
		}
		same, err := s.record(r.Level, n, bits)
		if err != nil {
			return err
		}
		o.records = append(o.records, r)
		sum, even, bytes = sum+r.FPP, even+same.FPP, bytes+r.Bytes
		r.Bits = 8 * float64(r.Bytes) / float64(n)
		row = append(row, report.Number{Value: r.Bits, Decimals: 1})
	}
	o.levels.Add(append(row, mebibytes(bytes), significant(1000*sum), significant(1000*even))...)
	return nil
}

// mebibytes shows a size with a decimal, or two digits if it is below 1 MiB.
func mebibytes(bytes uint64) report.Number {
	n := significant(float64(bytes) / (1 << 20))
	n.Decimals = max(1, n.Decimals)
	return n
}

// significant shows two digits of a number up to 1000, or more before the point.
func significant(x float64) report.Number {
	return report.Number{Value: x, Decimals: max(0, 1-int(math.Floor(math.Log10(x))))}
}

// bitsOfMemory returns the bits that a size has room for, for each of n keys.
func bitsOfMemory(size string, n int) (float64, error) {
	memory, err := parseBytes(size)
	bits := math.Floor(80*memory/float64(n)) / 10
	if err == nil && !(bits > 0 && bits <= 1000) {
		err = fmt.Errorf("%s is %.2g bits per key with -n %s: pass a size that is 0.1 to 1000",
			size, 8*memory/float64(n), keys.FormatN(n))
	}
	return bits, err
}

// parseBytes reads a size such as 16MiB.
func parseBytes(s string) (float64, error) {
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if number, ok := strings.CutSuffix(s, unit); ok {
			x, err := strconv.ParseFloat(number, 64)
			if err == nil && x > 0 && x <= 1<<30 {
				return x * math.Pow(1024, float64(i+1)), nil
			}
		}
	}
	return 0, fmt.Errorf("%q: pass a size above 0 such as 500KiB, 16MiB or 2GiB", s)
}
