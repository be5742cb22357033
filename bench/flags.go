package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// flags is the flags of a subcommand, with those that all have in common.
type flags struct {
	*flag.FlagSet
	usage    string
	given    map[string]bool
	isQuick  bool
	quick    map[string]string // with -quick, the values of flags that are not given
	outputs  outputs
	settings []string // names of the flags that say what is measured

	keysPath string
	note     string // about the user's own keys
}

func newFlags(name, usage string) *flags {
	f := &flags{FlagSet: flag.NewFlagSet("bench "+name, flag.ContinueOnError), usage: usage}
	f.SetOutput(io.Discard) // an error is printed once, by exitStatus
	f.Usage = func() {}
	return f
}

// rateFlag adds a flag for a rate, such as 0.01 or 1%.
func (f *flags) rateFlag(p *float64, name string, value float64, usage string) {
	*p = value
	f.Var((*rate)(p), name, usage+", such as 0.01 or 1%")
}

// rate is the value of a flag.
type rate float64

func (r *rate) Set(s string) error {
	number, isPerCent := strings.CutSuffix(s, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil {
		return errors.New("pass a rate such as 0.01 or 1%")
	}
	if isPerCent {
		x /= 100
	}
	*r = rate(x)
	return nil
}

func (r *rate) String() string { return fmt.Sprint(float64(*r)) }
func (r *rate) Get() any       { return float64(*r) }

// quickFlag adds -quick, which gives values to the flags that are not given.
func (f *flags) quickFlag(what string, values map[string]string) {
	f.BoolVar(&f.isQuick, "quick", false, "a short run, too small for conclusions: "+what)
	f.quick = values
}

// prepare parses the arguments, checks them with config, and opens the outputs.
func prepare[C any](f *flags, args []string, stdout io.Writer, config func() (C, error)) (
	c C, err error) {
	if err = f.parse(args, stdout); err == nil {
		c, err = config()
	}
	if err == nil {
		err = f.outputs.open()
	}
	return c, err
}

// parse parses the arguments. With -help it prints the usage and the flags.
func (f *flags) parse(args []string, stdout io.Writer) error {
	f.VisitAll(func(fl *flag.Flag) { f.settings = append(f.settings, fl.Name) })
	f.BoolVar(&f.outputs.markdown, "markdown", false, "print the tables as Markdown")
	f.StringVar(&f.outputs.json.path, "json", "",
		"`file` to write as JSON, which describes its fields")
	f.StringVar(&f.outputs.csv.path, "csv", "", "`file` to write as CSV")
	if err := f.parseOnly(args, stdout); err != nil {
		return err
	}
	for name, value := range f.quick {
		if f.isQuick && !f.given[name] {
			if err := f.Set(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// parseOnly is parse without the flags for outputs and quick values.
func (f *flags) parseOnly(args []string, stdout io.Writer) error {
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.print(stdout)
	}
	if err == nil && f.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q: see -help", f.Arg(0))
	}
	f.given = map[string]bool{}
	f.Visit(func(fl *flag.Flag) { f.given[fl.Name] = true })
	return err
}

// print prints the usage and the flags in 80 columns.
func (f *flags) print(w io.Writer) {
	const width, indent = 80, "        "
	fmt.Fprintf(w, "Usage: %s [FLAGS]\n\n", f.Name())
	fmt.Fprintf(w, "%s\n\n", report.Wrap(f.usage, width))
	f.VisitAll(func(fl *flag.Flag) {
		value, usage := flag.UnquoteUsage(fl)
		if fl.DefValue != "" && fl.DefValue != "false" {
			usage += " (default " + spaced(fl.DefValue) + ")"
		}
		usage = strings.ReplaceAll(report.Wrap(usage, width-len(indent)), "\n", "\n"+indent)
		fmt.Fprintf(w, "  %s\n%s%s\n", strings.TrimSpace("-"+fl.Name+" "+value), indent, usage)
	})
}

// unused leaves flags out of the report's settings that this run does not obey.
func (f *flags) unused(names ...string) {
	f.settings = slices.DeleteFunc(f.settings, func(name string) bool {
		return slices.Contains(names, name)
	})
}

// report returns a report with everything but what was measured.
func (f *flags) report() *report.Report {
	r := &report.Report{Command: f.Name(), Environment: report.ThisEnvironment()}
	for _, name := range f.settings {
		value := f.Lookup(name).Value.(flag.Getter).Get()
		r.Settings = append(r.Settings, report.Setting{Name: name, Value: value})
	}
	if f.note != "" {
		r.Notes = append(r.Notes, f.note)
	}
	return r
}

// join returns a comma-separated list of names.
func join[T any](all []T, name func(T) string) string {
	var names []string
	for _, x := range all {
		names = append(names, name(x))
	}
	return strings.Join(names, ",")
}

// spaced lets a list be wrapped.
func spaced(list string) string { return strings.ReplaceAll(list, ",", ", ") }

func itself[T ~string](s T) string { return string(s) }

// choose returns the elements of all that a comma-separated list names, in the list's order.
func choose[T any](flag, list string, all []T, name func(T) string) ([]T, error) {
	var chosen []T
	_, err := parseList(flag, list, func(want string) (string, error) {
		i := slices.IndexFunc(all, func(x T) bool { return name(x) == want })
		if i < 0 {
			return "", fmt.Errorf("no %q: choose from %s", want, join(all, name))
		}
		chosen = append(chosen, all[i])
		return want, nil
	})
	return chosen, err
}

// parseList returns the elements of a comma-separated list, which has at least one, and none twice.
func parseList[T comparable](flag, list string, parse func(string) (T, error)) (
	all []T, err error) {
	for _, part := range strings.Split(list, ",") {
		x, err := parse(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("-%s: %w", flag, err)
		}
		if slices.Contains(all, x) {
			return nil, fmt.Errorf("-%s: %q is named twice", flag, strings.TrimSpace(part))
		}
		all = append(all, x)
	}
	return all, nil
}
