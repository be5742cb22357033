package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/labreport"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/bench/internal/verdict"
	"github.com/levelbloom/levelbloom/policy"
)

// reportFlags is the flags of `bench report`.
type reportFlags struct {
	*flags
	out, from, shape, density string
	bits                      float64
	quick                     bool
}

func newReportFlags() *reportFlags {
	f := &reportFlags{flags: newFlags("report", "Runs the other subcommands and makes one page of "+
		"what they measure: which filter, which setting, and what it costs. It writes "+
		labreport.PageFile+", "+labreport.ResultsFile+" and a CSV file for each part. The run takes "+
		"up to 5 minutes on 2 cores, with -quick up to 1 minute.")}
	f.StringVar(&f.out, "out", "", "`directory` for the files")
	f.keysFlag("The verdict is then about them")
	f.StringVar(&f.shape, "shape", "decimal", "`shape` of the keys that the verdict is about: "+
		spaced(join(keys.All, keys.ShapeName)))
	f.StringVar(&f.density, "density", "63%", "`part` of a range of keys that is present: see the "+
		"flags of engines")
	f.Float64Var(&f.bits, "bits", 10, "`bits` per key that the verdict is about")
	f.StringVar(&f.from, "from", "", "`file` results.json to make the page of, instead of a run")
	f.BoolVar(&f.quick, "quick", false, "a short run; its speeds are rough")
	return f
}

// A part is a run of a subcommand.
type part struct {
	name    string
	args    []string
	seconds int // that it takes about, for the estimate of the time left
}

// parts returns what to run, the verdict's keys in words, and whether they are the user's own.
func (f *reportFlags) parts(disk *verdict.Disk) (all []part, keysInWords string, err error) {
	const window = ratebench.WindowKeys
	table, num, reads := ratebench.TableKeys, 100_000, 1<<13
	subjects := []string{"-shapes", f.shape, "-densities", f.density} // of rates
	subject := []string{"-shape", f.shape, "-density", f.density}
	if f.quick {
		table, num, reads = 10_000, 30_000, 1<<12
	}
	if _, err := policy.NewBloom(f.bits); err != nil {
		return nil, "", fmt.Errorf("-bits: %w", err)
	}
	own, err := f.ownKeys()
	if err != nil {
		return nil, "", err
	}
	shape, density, err := f.oneShape(own, f.shape, f.density)
	if err != nil {
		return nil, "", err
	}
	keysInWords = labreport.InWords(shape, density)
	if own != nil {
		if err := own.Fits(window, 0); err != nil {
			return nil, "", fmt.Errorf("-keys: %w", err)
		}
		table, reads = min(table, own.Most(0)), min(reads, len(own)/8)
		num = min(num, own.Most(reads+1))
		subject = []string{"-keys", f.keysPath}
		subjects = subject
		keysInWords = fmt.Sprintf("your own keys (%d from %s)", len(own), f.keysPath)
	}
	scale := func(full, quick string) string {
		if f.quick {
			return quick
		}
		return full
	}
	if disk != nil && disk.Engine != "" {
		subject = append(subject, "-engines", disk.Engine)
	}
	compared := engine.Filters()
	if disk != nil && !f.given["bits"] && disk.Sample.BitsPerKey > 0 {
		f.bits = math.Round(disk.Sample.BitsPerKey)
	}
	bits, n := fmt.Sprint(f.bits), fmt.Sprintf("%d,%d", window, table)
	engines := append([]string{"engines", "-bits", bits, "-disk", "0",
		"-num", fmt.Sprint(num), "-reads", fmt.Sprint(reads), "-rounds", scale("3", "1"),
		"-filters", strings.Join(compared, ",")}, subject...)
	if f.quick {
		engines = append(engines, "-quick") // without conclusions
	}
	return []part{
		{labreport.Engines, engines, 10},
		{labreport.TradeOff, append([]string{"rates", "-n", n, "-bits",
			scale("4,5,6,7,8,9,10,11,12,14,16,18,20", "4,6,8,10,12,16,20"),
			"-queries", scale("500000", "50000")}, subjects...), 4},
	}, keysInWords, nil
}

// reports is the subcommand that makes a page.
func reports(ctx context.Context, args []string, stdout io.Writer) error {
	f := newReportFlags()
	if err := f.parseOnly(args, stdout); err != nil {
		return err
	}
	if f.out == "" {
		return errors.New("-out: pass a directory for the files, such as -out report")
	}
	for _, name := range []string{"keys", "shape", "density", "bits", "quick"} {
		if f.from != "" && f.given[name] {
			return fmt.Errorf("-from has the results of a run: leave out -%s", name)
		}
	}
	if sameFile(f.from, filepath.Join(f.out, labreport.ResultsFile)) {
		return fmt.Errorf("-out: pass another directory, or %s would be replaced", f.from)
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	var results *labreport.Results
	var failed error
	if f.from != "" {
		var err error
		if results, err = labreport.Read(f.from); err != nil {
			return fmt.Errorf("-from: %w", err)
		}
	} else {
		disk, err := verdict.ReadDisk(ctx, f.keysPath)
		if err != nil {
			return fmt.Errorf("-keys: %w", err)
		}
		all, words, err := f.parts(disk)
		if err != nil {
			return err
		}
		results = &labreport.Results{
			Command: commandLine(append([]string{"report"}, args...)), Keys: words,
			Own: f.keysPath != "", Bits: f.bits, Quick: f.quick, Disk: disk,
		}
		results.Parts, failed = f.run(ctx, all)
		if !slices.ContainsFunc(results.Parts, labreport.Part.Measured) {
			return failed
		}
	}
	err := results.Write(f.out)
	if err == nil {
		verdicts, _ := results.Verdicts() // which could be written
		for _, line := range verdict.Lines(verdicts) {
			fmt.Fprintln(stdout, report.Wrap(line, width(stdout)))
		}
		fmt.Fprintf(stdout, "\nThe page: %s\n", filepath.Join(f.out, labreport.PageFile))
	}
	return errors.Join(failed, err)
}

// run runs the parts, and goes on after one that failed, unless ctx ended.
func (f *reportFlags) run(ctx context.Context, all []part) (parts []labreport.Part, failed error) {
	total, done := 0, 0
	for _, p := range all {
		total += p.seconds
	}
	progress := report.ProgressOf(ctx, os.Stderr)
	temporary, err := os.MkdirTemp("", "levelbloom-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	for _, p := range all {
		if ctx.Err() != nil {
			return parts, errors.Join(failed, context.Cause(ctx))
		}
		// Steps are hundredths of the whole.
		partly := report.WithProgress(ctx, func(step, steps int, what string) {
			at := (float64(done) + float64(p.seconds*step)/float64(steps)) / float64(total)
			progress(int(100*at), 100, p.name+": "+what)
		})
		jsonPath := filepath.Join(temporary, p.name+".json")
		files := []string{"-json", jsonPath, "-csv", filepath.Join(f.out, p.name+".csv")}
		err := run(partly, append(p.args, files...), io.Discard)
		measured := labreport.Part{Name: p.name, Command: commandLine(p.args)}
		if err != nil {
			measured.Error = err.Error()
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.name, err))
		}
		data, readErr := os.ReadFile(jsonPath)
		if readErr == nil && len(data) > 0 {
			readErr = json.Unmarshal(data, &measured.Report)
		}
		if err == nil {
			failed = errors.Join(failed, readErr)
		}
		parts = append(parts, measured)
		done += p.seconds
	}
	return parts, failed
}

// commandLine returns what to type to run bench with the arguments.
func commandLine(args []string) string {
	line := "go run ./bench"
	for _, arg := range args {
		if strings.ContainsAny(arg, " \t\n'\"\\$&|;<>()*?#~`") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		line += " " + arg
	}
	return line
}
