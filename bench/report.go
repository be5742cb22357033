package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/labreport"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/bench/internal/verdict"
	"github.com/levelbloom/levelbloom/policy"
)

// reportCommand makes one page of what the other subcommands measure.
type reportCommand struct {
	Out   string  `placeholder:"DIR" required:"" help:"Directory for the files."`
	Bits  float64 `default:"10" help:"Bits per key that the verdict is about."`
	From  string  `placeholder:"FILE" help:"results.json to make the page of, without a run."`
	Quick bool    `help:"A short run; its speeds are rough."`
	keyFlags
}

func (*reportCommand) Help() string {
	return "Runs the other subcommands and makes one page of what they measure: which filter, " +
		"which setting, and what it costs. It writes " + labreport.PageFile + " and " +
		labreport.ResultsFile + ". The run takes up to 5 minutes on " +
		"2 cores, with --quick up to 1 minute. The verdict is about keys of --shape, " +
		"or your own (--keys).\n\n" + shapesHelp()
}

// parts returns what to run, and the verdict's keys in words.
func (f *reportCommand) parts(j *job, disk *verdict.Disk) (
	all []part, keysInWords string, err error) {
	const window = ratebench.WindowKeys
	table, num, reads := ratebench.TableKeys, 100_000, 1<<13
	rounds, bits, queries := "3", "4,5,6,7,8,9,10,11,12,14,16,18,20", "500000"
	if f.Quick {
		table, num, reads = 10_000, 30_000, 1<<12
		rounds, bits, queries = "1", "4,6,8,10,12,16,20", "50000"
	}
	if _, err := policy.NewBloom(f.Bits); err != nil {
		return nil, "", fmt.Errorf("--bits: %w", err)
	}
	subject := []string{"--shape", f.Shape, "--density", f.Density}
	shape, density, own, err := f.choose(j, new(outputs))
	if err != nil {
		return nil, "", err
	}
	keysInWords = labreport.InWords(shape, density)
	if own != nil {
		if err := own.Fits(window, 0); err != nil {
			return nil, "", fmt.Errorf("--keys: %w", err)
		}
		table, reads = min(table, own.Most(0)), min(reads, len(own)/8)
		num = min(num, own.Most(reads+1))
		subject = []string{"--keys", f.Keys}
		keysInWords = fmt.Sprintf("your own keys (%d from %s)", len(own), f.Keys)
	}
	if disk != nil && !j.given("bits") && disk.Sample.BitsPerKey > 0 {
		f.Bits = math.Round(disk.Sample.BitsPerKey)
	}
	engines := fmt.Sprintf("engines --bits %v --disk 0s --num %d --reads %d --rounds %s",
		f.Bits, num, reads, rounds)
	if f.Quick {
		engines += " --quick" // without conclusions
	}
	if disk != nil && disk.Engine != "" {
		engines += " --engines " + disk.Engine
	}
	ns := fmt.Sprintf("%d,%d", window, table)
	switch {
	case disk == nil || disk.Engine == "":
	case disk.Engine == "goleveldb":
		ns = fmt.Sprint(window)
	default:
		ns = fmt.Sprint(table)
	}
	rates := fmt.Sprintf("rates -n %s --bits %s --queries %s", ns, bits, queries)
	return []part{
		{labreport.Engines, append(strings.Fields(engines), subject...)},
		{labreport.TradeOff, append(strings.Fields(rates), subject...)},
	}, keysInWords, nil
}

// Run is the subcommand.
func (f *reportCommand) Run(j *job) error {
	if err := f.check(j); err != nil {
		return err
	}
	if err := os.MkdirAll(f.Out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	results, failed := f.results(j)
	if results == nil {
		return failed
	}
	err := results.Write(f.Out)
	if err == nil {
		verdicts, _ := results.Verdicts() // which could be written
		fmt.Fprintf(j.stdout, "%s\nThe page: %s\n",
			report.Paragraphs(verdict.Lines(verdicts), 100), filepath.Join(f.Out, labreport.PageFile))
	}
	return errors.Join(failed, err)
}

// check finds misuse before anything runs.
func (f *reportCommand) check(j *job) error {
	for _, name := range []string{"keys", "shape", "density", "bits", "quick"} {
		if f.From != "" && j.given(name) {
			return fmt.Errorf("--from has the results of a run: leave out --%s", name)
		}
	}
	if sameFile(f.From, filepath.Join(f.Out, labreport.ResultsFile)) {
		return fmt.Errorf("--out: pass another directory, or %s would be replaced", f.From)
	}
	return nil
}

// results returns those of a run, or of --from. They are nil if nothing was measured.
func (f *reportCommand) results(j *job) (*labreport.Results, error) {
	if f.From != "" {
		results, err := labreport.Read(f.From)
		if err != nil {
			return nil, fmt.Errorf("--from: %w", err)
		}
		return results, nil
	}
	disk, err := verdict.ReadDisk(j.ctx, f.Keys)
	if err != nil {
		return nil, fmt.Errorf("--keys: %w", err)
	}
	all, words, err := f.parts(j, disk)
	if err != nil {
		return nil, err
	}
	results := &labreport.Results{Command: commandLine(j.args), Keys: words, Own: f.Keys != "",
		Bits: f.Bits, Quick: f.Quick, Disk: disk}
	results.Parts, err = runParts(j, all)
	if !slices.ContainsFunc(results.Parts, labreport.Part.Measured) {
		return nil, err
	}
	return results, err
}
