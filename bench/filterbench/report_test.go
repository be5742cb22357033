package filterbench

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/report"
)

var example = Report{
	Machine:     report.Machine{CPU: "Zen 99", Cores: 2, OS: "linux", Arch: "amd64", GoVersion: "go1.99", GoMaxProcs: 3},
	Settings:    []report.Setting{{Name: "rounds", Value: "3"}},
	Contestants: []string{"ours", "ours again", "theirs"},
	Versions:    []string{"theirs v1", "others v2"},
	Results: []Result{
		{Cell{Lookup, 10_000, 16, Miss}, map[string][]float64{"ours": {4, 10, 5}, "ours again": {4, 9, 5.5}, "theirs": {8, 5, 15}}},
		{Cell{Build, 32, Mixed, ""}, map[string][]float64{"ours": {4, 10, 5}, "ours again": {4, 10, 5}, "theirs": {2, 5, 2.5}}},
	},
}

// The ratios are those of turns in the same round: 8/4, 5/10 and 15/5.
func TestText(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, example.WriteText(&b))
	for _, line := range []string{
		"Zen 99, 2 cores, linux/amd64, go1.99, GOMAXPROCS 3\n",
		"-rounds=3",
		"theirs v1, others v2\n",
		"│ lookup │ keys │ bytes │ ours, ns │          ours again │              theirs │\n",
		"│ miss   │  10k │    16 │      5.0 │ 1.00 [0.90 to 1.10] │ 2.00 [0.50 to 3.00] │\n",
		"│       │   32 │ mixed │      5.0 │ 1.00 [1.00 to 1.00] │ 0.50 [0.50 to 0.50] │\n",
		`"ours again" is the same code again`,
	} {
		require.Contains(t, b.String(), line)
	}
	require.NotContains(t, b.String(), "│ many")
}

func TestBenchstat(t *testing.T) {
	var b bytes.Buffer
	r := example
	r.Contestants = []string{"ours", "ours again", "theirs", "ours/engine"}
	r.Results = append(r.Results, Result{Cell{Lookup, 32, 8, Hit}, map[string][]float64{"ours/engine": {6}}})
	require.NoError(t, r.WriteBenchstat(&b))
	for _, lines := range []string{
		"goos: linux\ngoarch: amd64\npkg: github.com/levelbloom/levelbloom/bench\ncpu: Zen 99\n",
		"BenchmarkFilter/work=lookup/len=16/n=10k/keys=miss/impl=ours_again-3\t1\t4.000 ns/op\n",
		"BenchmarkFilter/work=lookup/len=16/n=10k/keys=miss/impl=theirs-3\t1\t8.000 ns/op\n" +
			"BenchmarkFilter/work=lookup/len=16/n=10k/keys=miss/impl=theirs-3\t1\t5.000 ns/op\n" +
			"BenchmarkFilter/work=lookup/len=16/n=10k/keys=miss/impl=theirs-3\t1\t15.000 ns/op\n",
		"/impl=ours+engine-3\t1\t6.000 ns/op\n",
		"BenchmarkFilter/work=build/len=mixed/n=32/impl=ours-3\t1\t4.000 ns/op\n",
	} {
		require.Contains(t, b.String(), lines)
	}
}
