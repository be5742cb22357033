// Package report presents the runs of `bench engines`: as a table for people, as JSON and as CSV.
package report

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/klauspost/cpuid/v2"
	"github.com/montanaflynn/stats"

	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/measure"
)

// A Report is everything that one call of `bench engines` found out.
type Report struct {
	Machine    Machine
	Engines    []Engine
	Settings   []Setting
	SmallCache int // bytes
	LargeCache int
	Lookups    int // in each timed pass
	Runs       []measure.Run
}

// Machine says what the program ran on.
type Machine struct {
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	GoVersion  string `json:"go_version"`
	GoMaxProcs int    `json:"gomaxprocs"`
}

// ThisMachine describes the machine and the Go version.
func ThisMachine() Machine {
	cpu := cpuid.CPU.BrandName
	if cpu == "" {
		cpu = "unknown CPU"
	}
	if cpuid.CPU.Family != 0 {
		cpu += fmt.Sprintf(" (family %d, model %d)", cpuid.CPU.Family, cpuid.CPU.Model)
	}
	return Machine{cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.GOMAXPROCS(0)}
}

func (m Machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s/%s, %s, GOMAXPROCS %d", m.CPU, m.Cores, m.OS, m.Arch, m.GoVersion, m.GoMaxProcs)
}

// An Engine names an engine, its version, and its contestants in the order to show.
type Engine struct {
	Name, Version string
	Contestants   []measure.Contestant
	Reads         []engine.Read
	// Bits holds the bits per key of LevelBloom, of each level that has some; of BuiltIn after engine.WholeBits.
	Bits []float64
}

// A Setting is one flag as it was in force.
type Setting struct{ Name, Value string }

// Keys, in the settings, that the text names beside every rate.
const (
	settingShape   = "shape"
	settingDensity = "density"
)

func (r *Report) setting(name string) string {
	for _, s := range r.Settings {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

// spread is the median and the range of one figure over the rounds.
type spread struct{ median, min, max float64 }

// spreadOf panics without runs: every contestant runs at least once.
func spreadOf(runs []measure.Run, figure func(measure.Run) float64) spread {
	var values stats.Float64Data
	for _, run := range runs {
		values = append(values, figure(run))
	}
	return spread{must(values.Median()), must(values.Min()), must(values.Max())}
}

func must(x float64, err error) float64 {
	if err != nil {
		panic(err)
	}
	return x
}

// bitsOf returns the bits per key of the Bloom filters of a contestant, or false if it has none or they differ by level.
func (e Engine) bitsOf(f engine.Filter) (float64, bool) {
	if f == engine.None || f == engine.Fuse || len(e.Bits) == 0 || slices.Min(e.Bits) != slices.Max(e.Bits) {
		return 0, false
	}
	if f == engine.BuiltIn {
		return float64(engine.WholeBits(e.Bits[0])), true
	}
	return e.Bits[0], true
}

// textbookFPP is the false-positive probability that textbooks give for a Bloom filter, (1 - e^(-k/b))^k.
func textbookFPP(bitsPerKey float64) float64 {
	k := math.Floor(min(max(bitsPerKey*0.69, 1), 30))
	return math.Pow(1-math.Exp(-k/bitsPerKey), k)
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
