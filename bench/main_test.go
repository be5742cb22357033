package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
)

// The tests run this test binary as the program: main reads its own arguments, handles signals and
// exits.
func TestMain(m *testing.M) {
	if os.Getenv("LEVELBLOOM_BENCH_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

type result struct {
	stdout, stderr string
	status         int
	left           []string // in the directory for databases and other temporary files
}

// A process is the program at work.
type process struct {
	*exec.Cmd
	dir            string
	stdout, stderr buffer
}

// A buffer can be read while the program writes to it.
type buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// start starts the program; dir is the directory for its temporary files.
func start(t *testing.T, dir string, args ...string) *process {
	p := &process{Cmd: exec.Command(os.Args[0], args...), dir: dir}
	p.Env = append(os.Environ(), "LEVELBLOOM_BENCH_MAIN=1", "TMPDIR="+dir)
	p.Cmd.Stdout, p.Cmd.Stderr = &p.stdout, &p.stderr
	require.NoError(t, p.Start())
	return p
}

func (p *process) finish(t *testing.T) result {
	_ = p.Wait() // the status says it
	r := result{p.stdout.String(), p.stderr.String(), p.ProcessState.ExitCode(), nil}
	if entries, err := os.ReadDir(p.dir); err == nil {
		for _, e := range entries {
			r.left = append(r.left, e.Name())
		}
	}
	for _, line := range strings.Split(r.stdout, "\n") {
		if !strings.Contains(strings.Join(p.Args, " "), "--markdown") {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 100, line)
		}
	}
	return r
}

func bench(t *testing.T, args ...string) result { return start(t, t.TempDir(), args...).finish(t) }

// decoded is what every JSON file has.
type decoded struct {
	Command     string
	Complete    bool
	Problem     string
	Environment map[string]any
	Settings    map[string]any
	Fields      map[string]string
	Records     []map[string]any
}

// file returns the flag that writes a JSON file, and a function that reads it.
func file(t *testing.T) (flag string, read func() decoded) {
	path := filepath.Join(t.TempDir(), "r.json")
	return "--json=" + path, func() (d decoded) {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(content, &d))
		for name := range d.Records[0] {
			require.NotEmpty(t, d.Fields[name], name)
		}
		require.NotEmpty(t, d.Environment["cpu"])
		require.NotEmpty(t, d.Environment["commit"])
		return d
	}
}

func TestEngines(t *testing.T) {
	t.Parallel()
	flag, read := file(t)
	r := bench(t, "engines", "--num=3000", "--reads=1000", "--rounds=1", "--bits=9.5",
		"--engines=goleveldb,pebblev1,pebblev2", "--disk=0s,20us", flag)
	require.Zero(t, r.status, r.stderr)
	require.Empty(t, r.left)
	for _, want := range []string{
		"goleveldb v1", "pebblev1 v1", "pebblev2 v2", " again", "Conclusion",
		"builtin has 10, the others have 9.5", "\ngoleveldb: ", "\nPebble v1: ", "\nPebble v2: ",
	} {
		require.Contains(t, r.stdout, want)
	}
	require.NotContains(t, r.stdout, "NO FILTER WAS EVER ASKED")
	filters := strings.Split(vocabulary()["engineFilters"], ",")
	runs := 3*(len(filters)+1) - 1 // goleveldb has no L6
	require.Equal(t, runs, strings.Count(r.stderr, "\n"), "a line of progress for each:\n%s",
		r.stderr)
	d := read()
	require.True(t, d.Complete)
	require.Len(t, d.Records, runs)
	require.Equal(t, "9.5", d.Settings["bits"])
	require.IsType(t, 1.5, d.Records[0]["load_per_s"], "a number")
	passes := d.Records[4]["passes"].([]any)
	require.Len(t, passes, 2*2+2)
	slow := 0
	for _, p := range passes {
		p := p.(map[string]any)
		reads, wait := p["reads"].(float64), p["disk_us"].(float64)
		took := 1e6 / p["per_s"].(float64)
		require.GreaterOrEqual(t, took, reads*wait, "microseconds of a lookup: %v", p)
		if reads*wait > 0 {
			slow++
		}
	}
	require.Positive(t, slow)
	require.NotEmpty(t, d.Fields["passes.reads"])
	checks := d.Records[4]["between_checks"].(float64)
	require.Greater(t, checks, 1000.0)
	require.Greater(t, d.Records[4]["between_reads_avoided"].(float64), 0.9*checks)
}

// requireRefused runs the program with arguments that it must refuse, in one line.
func requireRefused(t *testing.T, args, message string) {
	r := bench(t, strings.Fields(args)...)
	require.Equal(t, exitCannotRun, r.status, args)
	require.Contains(t, r.stderr, message, args)
	require.Equal(t, 1, strings.Count(r.stderr, "\n"), "one line: %s", r.stderr)
	require.Empty(t, r.stdout)
	require.Empty(t, r.left)
}

// An interrupted benchmark prints and writes what it has measured, and says that it is incomplete.
func TestInterruption(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"engines": {"--num=2000", "--reads=1000", "--rounds=1000", "--engines=goleveldb"},
		"filters": {"filters", "-n", "8,16,24,32,40,48,56,64", "--work=hit", "--rounds=20"},
		"rates": {"rates", "-n", "8,1M,2M", "--bits=10", "--shape=random,decimal",
			"--filters=bloom", "--queries=20000"},
	} {
		t.Run(name, func(t *testing.T) {
			flag, read := file(t)
			p := start(t, t.TempDir(), append(args, flag)...)
			require.Eventually(t, func() bool {
				return strings.Count(p.stderr.String(), "\n") >= 3 // lines of progress
			}, time.Minute, 5*time.Millisecond)
			require.NoError(t, p.Process.Signal(os.Interrupt))
			r := p.finish(t)
			require.Equal(t, exitInterrupted, r.status)
			require.True(t, strings.HasSuffix(r.stderr, "bench: interrupted\n"), r.stderr)
			require.Empty(t, r.left)
			require.Contains(t, r.stdout, "INCOMPLETE, because it ended early: interrupted")
			d := read()
			require.False(t, d.Complete)
			require.NotEmpty(t, d.Records)
		})
	}
}

// Nothing was measured yet: nothing is printed, and files keep what they had.
func TestEarlyInterruption(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, "--num=2000000", "--engines=pebblev2")
	require.Eventually(t, func() bool {
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) == 1
	}, 20*time.Second, 10*time.Millisecond)
	require.NoError(t, p.Process.Signal(os.Interrupt))
	r := p.finish(t)
	require.Equal(t, exitInterrupted, r.status)
	require.Empty(t, r.left)
	require.Empty(t, r.stdout)
}

// Rates that break a bound are printed all the same, and the status is 1.
func TestBrokenBound(t *testing.T) {
	ribbon, ok := kind.Named("ribbon")
	require.True(t, ok)
	bounds := ribbon.Bounds // the slice is the same in kind.All
	before := slices.Clone(bounds)
	for i := range bounds {
		bounds[i].Rate /= 10
	}
	defer func() { copy(bounds, before) }()
	var stdout strings.Builder
	args := []string{"rates", "-n", "1k", "--bits=10", "--shape=random", "--queries=200000"}
	err := run(context.Background(), args, &stdout)
	require.ErrorIs(t, err, ratebench.ErrBound)
	require.Contains(t, stdout.String(), "BOUNDS ARE BROKEN by 1 of 1 rates:")
	require.Equal(t, exitWrong, exitStatus(io.Discard, err))
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	r := bench(t, "--num=3000", "--reads=1000", "--rounds=1", "--shape=bigendian", "--filters=ribbon",
		"--disk=0s", "--engines=pebblev2,goleveldb", "--baselg=13", "--markdown")
	require.Zero(t, r.status, r.stderr)
	require.Contains(t, r.stdout, "--shape bigendian")
	require.Contains(t, r.stdout, "\n| engine | filter |")
	require.NotContains(t, r.stdout, "NO FILTER WAS EVER ASKED")
	require.NotContains(t, r.stdout, "pebblev1")
}

func TestFilters(t *testing.T) {
	filters := "goleveldb,pebblev2,bloom,ribbon:7"
	flag, read := file(t)
	r := bench(t, "filters", "--rounds=1", "-n", "1k", "--work=hit,build", "--filters="+filters, flag)
	require.Zero(t, r.status, r.stderr)
	require.Empty(t, r.left)
	for _, want := range append(strings.Split(filters, ","), "goleveldb v1", "pebblev2 v2",
		"goleveldb-again", "│ hit ", "│ build ") {
		require.Contains(t, r.stdout, want)
	}
	require.Len(t, read().Records, 2*5)
}

func TestRates(t *testing.T) {
	flag, read := file(t)
	args := []string{"rates", "-n", "20,1k", "--queries=20000", "--bits=10,9.5",
		"--shape=random,decimal", "--density=alternating,beyond", "--seed=3", flag}
	r := bench(t, args...)
	require.Zero(t, r.status, r.stderr)
	require.Empty(t, r.left)
	for _, want := range []string{"in % at 10 bits per key", "in % at 9.5 bits per key", "--seed 3",
		"│ ribbon", "ribbon: no rate of 6 is more than"} {
		require.Contains(t, r.stdout, want)
	}
	d := read()
	require.Len(t, d.Records, len(kind.All)*2*3*2,
		"kinds, bits, shapes and densities, numbers of keys")
	require.Equal(t, r.stdout, bench(t, args...).stdout, "same flags, same figures")
	require.Equal(t, d.Records, read().Records)

	// A filter alone has the same rates, and may have bits of its own.
	alone := bench(t, append(args, "--filters=ribbon,bloom,tuning=0.02,bloom:10")...)
	require.Zero(t, alone.status, alone.stderr)
	few := read()
	require.Len(t, few.Records, (2+2+1)*3*2)
	found := 0
	for _, record := range few.Records {
		if record["kind"] == "ribbon" {
			require.Contains(t, d.Records, record)
			found++
		}
	}
	require.Equal(t, 2*3*2, found)
}

// Values for --quick give way to flags that are given.
func TestQuick(t *testing.T) {
	j, err := parse(context.Background(), []string{"--num=7", "--quick", "--filters=none, bloom",
		"--disk=1ms,5us"}, io.Discard)
	require.NoError(t, err)
	c, err := j.parsed.Selected().Target.Addr().Interface().(*enginesCommand).config(j)
	require.NoError(t, err)
	require.Equal(t, []int{7, 1000, 1}, []int{c.Keys.Len(), c.Reads, c.Rounds})
	require.Len(t, c.Filters, 2)
	require.Equal(t, []time.Duration{5 * time.Microsecond, time.Millisecond}, c.Disks, "sorted")

	r := bench(t, "--quick", "--engines=goleveldb", "--filters=ribbon")
	require.Zero(t, r.status, r.stderr)
	require.NotContains(t, r.stdout, "Conclusion")
	require.Contains(t, r.stdout,
		"\n--quick is too small for conclusions: run without it for them.\n")
}

// Flags that several subcommands have mean the same in all of them.
func TestHelp(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--help", "engines,filters,rates,size,report,results,play,above 1 is better"},
		{"engines -h", "--num=150k,--filters=,--shape=,--density=,--keys=FILE,128 MiB,bloom:10," +
			"user0000000000000042,--disk=0s,--json=FILE,--quick"},
		{"filters -h", "--filters=,-n, --n=,--work=,1 GB,benchstat"},
		{"rates -h", "--filters=,-n, --n=,--shape=,--density=,--keys=FILE,user0000000000000042"},
		{"size -h", "--filters=,-n, --n=,--num=,--bits=,--fpp=,--memory=,bench size -n 36 --bits 10"},
		{"report -h", "--shape=,--density=,--keys=FILE,--out=DIR,report.html"},
	} {
		r := bench(t, strings.Fields(c.args)...)
		require.Zero(t, r.status)
		require.Empty(t, r.stderr)
		for _, want := range strings.Split(c.want, ",") {
			require.Contains(t, strings.Join(strings.Fields(r.stdout), " "), want)
		}
		for _, line := range strings.Split(r.stdout, "\n") {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
		}
	}
}

func TestBadInput(t *testing.T) {
	for args, message := range map[string]string{
		"frobnicate":                       "unexpected argument frobnicate",
		"-filters=none":                    "-filters=none: write --filters=none, with two dashes",
		"rates -n=36":                      "-n=36: write --n=36, with two dashes",
		"--nonsense":                       "unknown flag --nonsense",
		"--num=x":                          `--num: "x": pass a number of keys`,
		"--bits=0":                         "--bits: policy: 0 bits per key",
		"--bits=NaN":                       "--bits: policy: NaN bits per key",
		"--density=1":                      `--density must be one of "alternating","63%",`,
		"--shape=user,decimal":             `but got "user,decimal"`,
		"--engines=rocksdb":                `--engines must be one of "goleveldb",`,
		"--filters=none,none":              `--filters: "none" is named twice`,
		"--reads=-1":                       "--reads -1: pass 1 to",
		"--baselg=9":                       "--baselg: goleveldb: WithFilterBaseLg(9): pass ",
		"--disk=0s,2s":                     "--disk 2s: pass 0s to 1s",
		"--json=/no/such/directory/r.json": "--json: open /no/such",
		"--dir=/no/such/directory":         "--dir: ",
		"filters --bits=101":               "--bits 101: pass 1 to 100",
		"filters --rounds=0":               "--rounds 0: pass 1 or more",
		"filters -n 20M":                   "--n 20000000: pass 10M or less",
		"filters --filters=rocksdb":        `--filters: policy: "rocksdb" is no kind of filter`,
		"rates --filters=cuckoo":           `--filters: no "cuckoo": choose from bloom,`,
		"rates --filters=bloom:x":          "pass a number of bits per key, such as bloom:10",
		"rates --bits=10,0":                "--bits: bloom: policy: 0 bits per key",
		"rates --queries=0":                "--queries 0: pass 1 to 1000000000",
		"play --json=x":                    "unknown flag --json",
		"report":                           "missing flags: --out=DIR",
		"report --out=. --bits=0":          "--bits: policy: 0 bits per key",
		"report --out=. --keys=/no/such":   "--keys: ",
		"report --out=. --from=/no/such":   "--from: open /no/such",
	} {
		requireRefused(t, args, message)
	}
}

func TestExitStatus(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		text   string
	}{
		{nil, 0, ""},
		{errInterrupted, exitInterrupted, "bench: interrupted\n"},
		{fmt.Errorf("goleveldb: %w: 00", enginebench.ErrLostKey), exitWrong, "bench: goleveldb: " +
			"a key is lost: 00\n"},
		{fmt.Errorf("lookup: %w", filterbench.ErrWrong), exitWrong,
			"bench: lookup: wrong answer\n"},
		{fmt.Errorf("cell: %w", ratebench.ErrLostKey), exitWrong, "bench: cell: a key is lost\n"},
		{ratebench.ErrBound, exitWrong, "bench: a false-positive rate breaks its bound\n"},
		{errors.Join(errors.New("one"), errors.New("two")), exitCannotRun,
			"bench: one\nbench: two\n"},
	} {
		var b bytes.Buffer
		require.Equal(t, c.status, exitStatus(&b, c.err))
		require.Equal(t, c.text, b.String())
	}
}

// A file keeps its content until it is written.
func TestOutputs(t *testing.T) {
	target := filepath.Join(t.TempDir(), "target")
	require.NoError(t, os.WriteFile(target, []byte("older"), 0o600))
	var o output
	require.NoError(t, o.UnmarshalText([]byte(target)))
	content, err := os.ReadFile(target)
	require.NoError(t, err)
	require.Equal(t, "older", string(content), "nothing was written")
	require.NoError(t,
		o.write(func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }))
	content, err = os.ReadFile(target)
	require.NoError(t, err)
	require.Equal(t, "new", string(content))
}
