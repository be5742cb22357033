package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/analysis"
	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

// The exit status. Without -verify it is exitSound if there was something to look at.
const (
	exitSound       = 0
	exitFault       = 1 // a false negative, or corruption
	exitCannotRun   = 2
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options is the command line.
type options struct {
	paths  []string
	open   tables.Options
	absent int
	seed   uint64
	sample int
	json   bool
	verify bool
	long   bool
	key    []byte // nil: not asked for
	draw   bool
}

var errUsage = errors.New("wrong command line")

// parse reads the command line. Its messages go to stderr.
func parse(args []string, stderr io.Writer) (*options, error) {
	var o options
	var key *string
	f := flag.NewFlagSet("filterdump", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprint(stderr, usage)
		f.PrintDefaults()
	}
	f.BoolVar(&o.json, "json", false, "write the report as JSON, whose fields the documentation of this command names")
	f.BoolVar(&o.verify, "verify", false, "exit with status 1 if a table has a false negative or is corrupt, 2 if something could not be read or verified")
	f.BoolVar(&o.long, "long", false, "describe each table at length, however many there are")
	f.BoolVar(&o.draw, "map", false, "draw how dense the parts of the filters are, and nothing else")
	f.Func("key", "show how the filters answer for `K`, text or 0x and hex, and nothing else", func(k string) error {
		key = &k
		return nil
	})
	f.Func("keyformat", "what the keys of LevelDB's tables are: `F` is internal (a database's), plain (of a bare table builder) or auto (default auto)", func(s string) (err error) {
		o.open.Keys, err = keyFormat(s)
		return err
	})
	f.Func("bloom", "a policy's `name` under which filters are LevelDB's Bloom filters, or of levelbloom's other encodings; may be repeated", func(name string) error {
		o.open.Bloom = append(o.open.Bloom, name)
		return nil
	})
	f.IntVar(&o.sample, "sample", 0, "look at `N` tables of each directory only")
	f.IntVar(&o.absent, "absent", 1<<16, "ask each table's filters for `N` absent keys of each kind")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the absent keys")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.paths = f.Args()
	err := func() (err error) {
		if key != nil {
			if o.key, err = parseKey(*key); err != nil {
				return err
			}
		}
		for _, path := range o.paths {
			if strings.HasPrefix(path, "-") {
				return fmt.Errorf("%s behind a PATH: flags come first; a PATH of that name is ./%s", path, path)
			}
		}
		switch {
		case len(o.paths) == 0:
			return errors.New("no PATH: pass tables (.ldb, .sst) or database directories")
		case o.sample < 0:
			return fmt.Errorf("-sample %d: pass 1 or more, or 0 for all", o.sample)
		case o.absent < 1 || o.absent > analysis.MaxAbsent:
			return fmt.Errorf("-absent %d: pass 1 to %d", o.absent, analysis.MaxAbsent)
		case (o.key != nil || o.draw) && (o.json || o.verify) || o.key != nil && o.draw:
			return errors.New("-key and -map stand alone: leave the others out")
		}
		return nil
	}()
	if err != nil {
		fmt.Fprintf(stderr, "filterdump: %v\n", err)
		return nil, errUsage
	}
	return &o, nil
}

func keyFormat(name string) (sstable.KeyFormat, error) {
	for _, f := range []sstable.KeyFormat{sstable.AutoKeys, sstable.InternalKeys, sstable.PlainKeys} {
		if f.String() == name {
			return f, nil
		}
	}
	return 0, errors.New("pass internal, plain or auto")
}

// run is the program. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitSound
	case err != nil:
		return exitCannotRun
	}
	places := findTables(o.paths, o.sample)
	var all []string
	for _, p := range places {
		all = append(all, p.tables...)
	}
	if o.key != nil || o.draw {
		return showOnly(ctx, o, places, all, stdout, stderr)
	}

	step, stop := func() {}, func() {}
	if file, ok := stderr.(*os.File); ok {
		step, stop = showProgress(file, len(all))
	}
	results, err := scan(ctx, all, settings{o.open, analysis.Options{Absent: o.absent, Seed: o.seed}}, step)
	stop()
	if err != nil {
		fmt.Fprintln(stderr, "filterdump: interrupted")
		return exitInterrupted
	}
	report := newReport(places, results)
	if o.json {
		err = report.writeJSON(stdout)
	} else {
		err = report.writeText(stdout, o.long)
	}
	if err != nil {
		fmt.Fprintln(stderr, "filterdump:", err)
		return exitCannotRun
	}
	return status(report, o.verify)
}

// showOnly does -key and -map.
func showOnly(ctx context.Context, o *options, places []place, all []string, stdout, stderr io.Writer) int {
	for _, p := range places {
		if p.note != "" {
			fmt.Fprintf(stderr, "filterdump: %s: %s\n", p.path, p.note)
		}
	}
	if len(all) == 0 {
		return exitCannotRun
	}
	heading, show := mapLegend, func(t tables.Table) error {
		if f := t.Info().Filters; f != nil {
			drawFilters(stdout, f)
		} else {
			fmt.Fprintln(stdout, "  no filter")
		}
		return nil
	}
	if o.key != nil {
		heading, show = "key "+keyText(o.key), func(t tables.Table) error { return showKey(ctx, stdout, t, o.key) }
	}
	fmt.Fprintln(stdout, heading)
	shown := 0
	for _, path := range all {
		if ctx.Err() != nil {
			break
		}
		fmt.Fprintf(stdout, "\n%s\n", path)
		if err := showTable(path, o.open, show); err != nil { // the rest goes on
			fmt.Fprintf(stdout, "  %s\n", withoutPath(err, path))
			continue
		}
		shown++
	}
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case shown == 0:
		return exitCannotRun
	}
	return exitSound
}

func showTable(path string, o tables.Options, show func(tables.Table) error) error {
	t, err := tables.Open(path, o)
	if err != nil {
		return err
	}
	defer t.Close()
	return show(t)
}

// status is the exit status: that of -verify, or 2 if there was nothing to look at.
func status(r *report, verify bool) int {
	if verify {
		return exitStatus(r.Paths)
	}
	failed, looked := false, false
	for _, s := range r.Paths {
		failed = failed || s.failed || s.Tables[Unreadable] > 0
		looked = looked || s.count() > s.Tables[Unreadable]
	}
	if failed && !looked {
		return exitCannotRun
	}
	return exitSound
}
