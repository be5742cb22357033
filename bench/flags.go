package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// vocabulary returns what the tags of flags refer to.
func vocabulary() kong.Vars {
	return kong.Vars{
		"version": report.Commit(),
		"engines": joined(engine.Engines, func(e engine.Engine) string { return e.Name }),
		"shapes":  joined(keys.Shapes, func(s keys.Shape) string { return s.Name }),
		"all":     joined(keys.Densities, func(d keys.Density) string { return d.Name }),
		"nHelp": "Keys per filter, such as 36,10k. A filter has the keys of a data block in " +
			"goleveldb, and of a table in Pebble.",
		"densityHelp": "Part of a range of keys that is present: alternating (every second key), " +
			"63% (as LevelDB's db_bench leaves), 10%, or beyond (all; the absent keys follow). " +
			"Unordered shapes have none.",
	}
}

func joined[T any](all []T, name func(T) string) string {
	var names []string
	for _, x := range all {
		names = append(names, name(x))
	}
	return strings.Join(names, ",")
}

// filtersHelp explains --filters.
const filtersHelp = `Filters have names that policy.FromString takes, with a plus sign before
options: ribbon:7, bloom:10, bloom:10+tuned. A name without a number of bits, such as
bloom+tuned, gets that of --bits.`

// shapesHelp lists the shapes of keys, each with an example.
func shapesHelp() string {
	var b strings.Builder
	b.WriteString("Shapes of keys, with an example of each:\n\n")
	for _, s := range keys.Shapes {
		fmt.Fprintf(&b, "    %-13s %s\n", s.Name, s.Example())
	}
	return b.String()
}

// kinds returns the kinds of filter of those names, at all of the bits per key or at their own.
func kinds(names []string, bits ...float64) (all []filters.Kind, err error) {
	for _, b := range bits {
		for _, name := range names {
			k, err := filters.FromString(name, b)
			if err != nil {
				return nil, fmt.Errorf("--filters %s: %w", name, err)
			}
			if !slices.ContainsFunc(all, func(other filters.Kind) bool {
				return other.Name == k.Name && other.Bits == k.Bits
			}) {
				all = append(all, k)
			}
		}
	}
	return all, nil
}

// outputs is where a report goes in addition to stdout.
type outputs struct {
	JSON output `name:"json" placeholder:"FILE" help:"Write a described JSON file."`
}

// write writes what was measured before the benchmark ended with err, unless that is nothing, and
// returns all errors. fill fills in the report.
func (o *outputs) write(j *job, nothing bool, err error, fill func(*report.Report)) error {
	if nothing {
		return err
	}
	r := &report.Report{Command: j.command, Environment: report.ThisEnvironment()}
	if err != nil {
		r.Incomplete = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	fill(r)
	err = errors.Join(err, r.WriteText(j.stdout))
	if o.JSON != "" {
		text, jsonErr := r.JSON()
		if jsonErr == nil {
			jsonErr = os.WriteFile(string(o.JSON), text, 0o644)
		}
		err = errors.Join(err, jsonErr)
	}
	return err
}

// An output is the path of a file, or empty.
type output string

// UnmarshalText checks that the file can be written before the benchmark runs, and not after. It
// leaves the file as it was, or missing.
func (o *output) UnmarshalText(path []byte) error {
	*o = output(path)
	_, missing := os.Stat(string(path))
	file, err := os.OpenFile(string(path), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	err = file.Close()
	if missing != nil {
		err = errors.Join(err, os.Remove(string(path)))
	}
	return err
}
