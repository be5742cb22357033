package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy"
)

// sizeCommand computes what is not given: of bits per key and rate each gives the other.
type sizeCommand struct {
	Num     count    `help:"Keys in the database."`
	N       count    `short:"n" default:"100k" help:"Keys per filter."`
	Bits    float64  `placeholder:"BITS" help:"Bits per key."`
	FPP     quantity `name:"fpp" placeholder:"RATE" help:"Rate of false positives, such as 1%."`
	Filters specs    `default:"bloom,ribbon" help:"Kinds of filter: bloom, tuned, ribbon."`
	outputs
}

func (*sizeCommand) Help() string {
	return `Some questions:

    bench size -n 36 --bits 10         how good are 10 bits per key?
    bench size --fpp 1%                how many bits per key for 1 %?
    bench size --num 10M --fpp 0.1%    how much memory for 10M keys?

A filter has the keys of a table in Pebble, and those of 2 KiB of data in
goleveldb. Without --num they are all keys. The rates are those of well-mixed
keys; for dense numbers see bench rates.`
}

// A sizeRecord is what one kind of filter takes.
type sizeRecord struct {
	Filter    string  `json:"filter" doc:"kind of filter"`
	Num       int     `json:"num" doc:"keys in the database"`
	PerFilter int     `json:"n" doc:"keys per filter"`
	Bits      float64 `json:"bits" doc:"bits per key"`
	FPP       float64 `json:"fpp" doc:"probability of a false positive, 0 to 1"`
	Bytes     uint64  `json:"bytes" doc:"bytes of all filters"`
}

// Run is the subcommand.
func (f *sizeCommand) Run(j *job) error { return f.outputs.run(j, f.measure) }

func (f *sizeCommand) measure(j *job) (*report.Report, error) {
	switch {
	case f.Bits != 0 && f.FPP != 0:
		return nil, errors.New("--bits and --fpp give each other: leave out one")
	case f.Bits == 0 && f.FPP == 0:
		f.FPP = 0.01
	}
	t := report.Table{Title: "What the filters take", Keys: 1, Columns: []string{"filter",
		"bits per key", "false positives, %", "keys", "keys per filter", "MiB"}}
	var records []sizeRecord
	for _, kind := range f.Filters {
		r, err := f.record(kind)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		records = append(records, r)
		t.Add(r.Filter, report.Number{Value: r.Bits, Decimals: 1}, fmt.Sprintf("%.2g", 100*r.FPP),
			keys.FormatN(r.Num), keys.FormatN(r.PerFilter), fmt.Sprintf("%.4g",
				float64(r.Bytes)/(1<<20)))
	}
	r := j.report(nil)
	r.SetRecords(records)
	r.Tables = []report.Table{t}
	return r, nil
}

// record computes what filters of a kind take.
func (f *sizeCommand) record(kind string) (r sizeRecord, err error) {
	r = sizeRecord{Filter: kind, Num: int(f.Num), PerFilter: int(f.N), Bits: f.Bits}
	if r.Num == 0 {
		r.Num = r.PerFilter
	}
	r.PerFilter = min(r.PerFilter, r.Num)
	if f.FPP > 0 {
		if r.Bits, err = policy.BitsFor(kind, r.PerFilter, float64(f.FPP)); err != nil {
			return r, err
		}
	}
	p, err := policy.FromString(fmt.Sprintf("%s:%v", kind, r.Bits))
	if err != nil {
		return r, err
	}
	r.FPP = p.FPP(r.PerFilter)
	each := float64(p.FilterSize(r.PerFilter)) / float64(r.PerFilter)
	r.Bytes = uint64(math.Round(each * float64(r.Num)))
	return r, nil
}
