package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/sizing"
)

// sizeCommand computes what is not given: of bits per key and rate each gives the other; together
// with the number of keys they give the memory, and with the memory the number of keys.
type sizeCommand struct {
	Num     count    `help:"Keys in the database."`
	N       count    `short:"n" default:"100k" help:"Keys per filter."`
	Bits    float64  `placeholder:"BITS" help:"Bits per key."`
	FPP     quantity `name:"fpp" placeholder:"RATE" help:"Rate of false positives, such as 1%."`
	Memory  quantity `placeholder:"SIZE" help:"Size of all filters, such as 16MiB."`
	Filters specs    `default:"bloom,ribbon" help:"Kinds of filter: bloom, tuned, ribbon."`
	outputs
}

func (*sizeCommand) Help() string {
	return `Some questions:

    bench size -n 36 --bits 10             how good are 10 bits per key?
    bench size --fpp 1%                    how many bits per key for 1 %?
    bench size --num 10M --fpp 0.1%        how much memory for 10M keys?
    bench size --num 10M --memory 16MiB    how good are filters of 16 MiB?
    bench size --memory 1GiB --fpp 1%      how many keys have filters in 1 GiB?

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
	K         int     `json:"k" doc:"probes per lookup; columns of a ribbon filter"`
	FPP       float64 `json:"fpp" doc:"probability of a false positive, 0 to 1"`
	Bytes     uint64  `json:"bytes" doc:"bytes of all filters"`
}

// Run is the subcommand.
func (f *sizeCommand) Run(j *job) error { return f.outputs.run(j, f.measure) }

func (f *sizeCommand) measure(j *job) (*report.Report, error) {
	if err := f.complete(); err != nil {
		return nil, err
	}
	t := report.Table{Title: "What the filters take", Keys: 1, Columns: []string{"filter",
		"bits per key", "k", "false positives, %", "keys", "keys per filter", "memory"}}
	var records []sizeRecord
	var failed error
	for _, kind := range f.Filters {
		record, err := f.record(kind)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", kind, err))
			continue
		}
		records = append(records, record)
		t.Add(record.Filter, report.Number{Value: record.Bits, Decimals: 1}, record.K,
			fmt.Sprintf("%.2g", 100*record.FPP), keys.FormatN(record.Num),
			keys.FormatN(record.PerFilter), binary(float64(record.Bytes)))
	}
	if records == nil {
		return nil, failed
	}
	r := j.report(failed)
	r.SetRecords(records)
	r.Tables = []report.Table{t}
	r.Notes = append(r.Notes, "k is the number of probes of a lookup; in ribbon filters, the "+
		"number of columns, each of which halves the rate.")
	return r, failed
}

// complete checks which flags are given, and fills in what does not depend on the kind.
func (f *sizeCommand) complete() error {
	switch hasRate := f.Bits != 0 || f.FPP != 0; {
	case f.Bits != 0 && f.FPP != 0:
		return errors.New("--bits and --fpp give each other: leave out one")
	case f.Memory == 0:
		if !hasRate {
			f.FPP = 0.01
		}
		if f.Num == 0 {
			f.Num = f.N
		}
	case f.Num == 0 && !hasRate:
		return errors.New("--memory: pass --num as well, or --bits or --fpp")
	case f.Num != 0 && hasRate:
		return errors.New("--memory and --num give the rest: leave out --bits and --fpp")
	case f.Num != 0:
		f.Bits = math.Floor(80*float64(f.Memory)/float64(f.Num)) / 10
	}
	return nil
}

// record computes what filters of a kind take.
func (f *sizeCommand) record(kind string) (r sizeRecord, err error) {
	r = sizeRecord{Filter: kind, Num: int(f.Num), PerFilter: int(f.N), Bits: f.Bits}
	if r.Num > 0 {
		r.PerFilter = min(r.PerFilter, r.Num)
	}
	if f.FPP > 0 {
		if r.Bits, err = sizing.BitsFor(kind, r.PerFilter, float64(f.FPP)); err != nil {
			return r, err
		}
	}
	p, err := policy.FromString(fmt.Sprintf("%s:%v", kind, r.Bits))
	if err != nil {
		return r, err
	}
	sized := p.(interface {
		FPP(n int) float64
		FilterSize(n int) uint64
	})
	r.FPP, r.K = sized.FPP(r.PerFilter), probes(p, r.PerFilter)
	each := float64(sized.FilterSize(r.PerFilter)) / float64(r.PerFilter)
	if r.Num == 0 {
		r.Num = max(1, int(float64(f.Memory)/each))
	}
	r.Bytes = uint64(math.Round(each * float64(r.Num)))
	return r, nil
}

// probes returns the k of filters of n keys, of one that it builds.
func probes(p policy.Policy, n int) int {
	b := p.NewBuilder()
	for i := range min(n, 100_000) {
		b.Add(keys.AppendRandom(nil, 1, uint64(i)))
	}
	info, _ := policy.Parse(b.Finish(nil)) // which is sound
	return info.K
}

// binary writes a number of bytes with a unit.
func binary(x float64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	for x >= 1024 && len(units) > 1 {
		x, units = x/1024, units[1:]
	}
	return fmt.Sprintf("%.4g %s", x, units[0])
}
