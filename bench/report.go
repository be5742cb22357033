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

// Run is the subcommand.
func (f *reportCommand) Run(j *job) error {
	if err := os.MkdirAll(f.Out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	disk, err := verdict.ReadDisk(j.ctx, f.Keys)
	if err != nil {
		return fmt.Errorf("--keys: %w", err)
	}
	all, words, err := f.parts(j, disk)
	if err != nil {
		return err
	}
	results := &labreport.Results{Command: commandLine(j.args), Keys: words, Own: f.Keys != "",
		Bits: f.Bits, Quick: f.Quick, Disk: disk}
	var failed error
	results.Parts, failed = runParts(j, all)
	if !slices.ContainsFunc(results.Parts, labreport.Part.Measured) {
		return failed
	}
	if err := results.Write(f.Out); err != nil {
		return errors.Join(failed, err)
	}
	verdicts, _ := results.Verdicts() // which could be written
	fmt.Fprintf(j.stdout, "%s\nThe page: %s\n", report.Paragraphs(verdict.Lines(verdicts)),
		filepath.Join(f.Out, labreport.PageFile))
	return failed
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
	shape, own, err := f.choose(j)
	if err != nil {
		return nil, "", err
	}
	keysInWords = labreport.InWords(shape, shape.Density)
	if own != nil {
		if err := own.Fits(window, 0); err != nil {
			return nil, "", fmt.Errorf("--keys: %w", err)
		}
		table, reads = min(table, own.Most(0)), min(reads, len(own)/8)
		num = min(num, own.Most(reads+1))
		subject = []string{"--keys", f.Keys}
		keysInWords = fmt.Sprintf("your own keys (%d from %s)", len(own), f.Keys)
	}
	engines, ns := "", fmt.Sprintf("%d,%d", window, table)
	if disk != nil {
		if !j.given("bits") && disk.Sample.BitsPerKey > 0 {
			f.Bits = math.Round(disk.Sample.BitsPerKey)
		}
		switch disk.Engine {
		case "":
		case "goleveldb":
			engines, ns = " --engines goleveldb", fmt.Sprint(window)
		default:
			engines, ns = " --engines "+disk.Engine, fmt.Sprint(table)
		}
	}
	engines = fmt.Sprintf("engines --bits %v --disk 0s --num %d --reads %d --rounds %s", f.Bits, num,
		reads, rounds) + engines
	if f.Quick {
		engines += " --quick" // without conclusions
	}
	rates := fmt.Sprintf("rates -n %s --bits %s --queries %s", ns, bits, queries)
	return []part{
		{labreport.Engines, append(strings.Fields(engines), subject...)},
		{labreport.TradeOff, append(strings.Fields(rates), subject...)},
	}, keysInWords, nil
}
