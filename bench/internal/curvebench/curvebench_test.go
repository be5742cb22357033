package curvebench

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// Filters have the size for capacity keys, and the bits of the keys that they contain, and no
// others.
func TestSized(t *testing.T) {
	all := policytest.Keys(policytest.Rand(t, 1), 2500)
	p := policytest.Must(policy.NewBloom(10))
	const capacity = 1000
	b := sized{p, capacity}.NewBuilder()
	for _, n := range []int{1, 300, 1000, 1001, 2000, 2500, 999} {
		for _, key := range all[:n] {
			b.Add(key)
		}
		filter := b.Finish([]byte("x"))[1:]
		require.Len(t, filter, int(p.FilterSize(capacity)))
		info, err := policy.Parse(filter)
		require.NoError(t, err)
		bits := map[uint64]bool{}
		for _, key := range all[:n] {
			for _, bit := range info.Probes(nil, key) {
				bits[bit] = true
				require.NotZero(t, info.Payload[bit/8]&(1<<(bit%8)))
			}
		}
		require.Equal(t, len(bits), info.Ones(), "%d keys", n)
	}
}

func config() *Config {
	return &Config{
		Views: Views, N: 1000, Bits: 10, Fills: []float64{0.5, 1, 1.5},
		AtBits: []float64{5, 10}, AtKeys: []int{100, 2000}, Runs: 3, Queries: 10_000,
		Target: 0.01, Seed: 1, Progress: func(int, int, string) {},
		Shape: keys.Shapes[0], Density: keys.Anywhere, Kinds: kind.All,
	}
}

// measured is what config measures. Most of its time goes into predictions of exact filters.
var measured = sync.OnceValues(func() ([]Record, error) {
	return config().Run(context.Background())
})

// Random keys give what is predicted, in every view. The same seed gives the same rates, whatever
// is measured beside; another one gives others.
func TestRun(t *testing.T) {
	c := config()
	records, err := measured()
	require.NoError(t, err)
	require.Equal(t, []string{"tuned", "ribbon"}, c.static())
	require.Len(t, records, 3*1+2*3+2*3)
	for _, r := range records {
		require.Len(t, r.Runs, c.Runs)
		falsePositives, queries := 0, 0
		for _, run := range r.Runs {
			falsePositives += run.FalsePositives
			queries += run.Queries
			require.GreaterOrEqual(t, run.Queries, c.Queries)
		}
		require.InDelta(t, float64(falsePositives)/float64(queries), r.Mean, 1e-9)
		// Filters differ, which adds to the error of the answers; predictions are within 5 %.
		standard := math.Sqrt(r.Predicted/float64(queries)) + 0.03*r.Predicted
		require.InDelta(t, r.Predicted, r.Mean, 5*standard+0.05*r.Predicted, "%+v", r)
		if r.Kind == "exact" && r.N >= 1000 {
			require.InEpsilon(t, r.Textbook, r.Predicted, 0.15, "%+v", r)
			require.InEpsilon(t, math.Pow(1-math.Exp(-float64(r.K)*float64(r.N)/
				(r.Bits*float64(r.Capacity))), float64(r.K)), r.Textbook, 0.01)
		}
	}
	ribbon := slices.Clone(records)
	ribbon = slices.DeleteFunc(ribbon, func(r Record) bool { return r.Kind != "ribbon" })
	c.Kinds = slices.DeleteFunc(slices.Clone(c.Kinds), func(k kind.Kind) bool {
		return k.Name != "ribbon"
	})
	again, err := c.Run(context.Background())
	require.NoError(t, err)
	require.Equal(t, ribbon, again)
	c.Seed = 2
	other, err := c.Run(context.Background())
	require.NoError(t, err)
	require.NotEqual(t, ribbon[1].Runs, other[1].Runs)
}

func TestSummary(t *testing.T) {
	r := Record{Runs: []Run{{FPR: 0.1}, {FPR: 0.2}, {FPR: 0.6}}}
	r.summarize()
	require.InDelta(t, 0.3, r.Mean, 1e-12)
	require.InDelta(t, math.Sqrt((0.04+0.01+0.09)/2), r.Deviation, 1e-12)
	r = Record{Runs: []Run{{FPR: 0.1}}}
	r.summarize()
	require.Zero(t, r.Deviation)
}

// What was measured before an interruption is kept.
func TestInterruption(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	interrupted := errors.New("interrupted")
	c := config()
	c.Kinds = []kind.Kind{kind.Exact, c.Kinds[2]}
	c.Progress = func(step, _ int, _ string) {
		if step == 4 {
			cancel(interrupted)
		}
	}
	records, err := c.Run(ctx)
	require.ErrorIs(t, err, interrupted)
	require.Len(t, byKind(records, Fill), 1)
	require.Len(t, byKind(records, Bits), 2)
	require.Empty(t, byKind(records, Keys))
	require.Len(t, records[0].Runs, 3)
	require.NotZero(t, records[len(records)-1].Mean)
	var r report.Report
	c.Report(&r, records)
	require.Len(t, r.Tables, 2)
}

// Pictures need no more than the JSON of the records, and rates of 0 leave them whole.
func TestDraw(t *testing.T) {
	records, err := measured()
	require.NoError(t, err)
	records = slices.Clone(records)
	records[0].Mean, records[0].Deviation, records[0].Runs = 0, 0, make([]Run, 3)
	for i, r := range records {
		if r.Kind == "ribbon" {
			records[i].Mean, records[i].Deviation = 0, 0
		}
	}
	var direct, decoded bytes.Buffer
	require.NoError(t, Draw(records, true, &direct))
	text, err := json.Marshal(records)
	require.NoError(t, err)
	var again []Record
	require.NoError(t, json.Unmarshal(text, &again))
	require.NoError(t, Draw(again, true, &decoded))
	require.Equal(t, direct.String(), decoded.String())
	texts := ""
	for d := xml.NewDecoder(&direct); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if data, ok := token.(xml.CharData); ok {
			texts += string(data)
		}
	}
	for _, want := range []string{"exact, 10 bits per key", "target",
		"capacity", "a run", "textbook", "predicted", "ribbon", "1k keys per filter"} {
		require.Contains(t, texts, want)
	}
	require.NotContains(t, decoded.String(), "NaN")
	require.NotContains(t, decoded.String(), "Inf")
	require.NotContains(t, texts, "tuned, 10 bits", "it has no room for other numbers of keys")

	// Of a run that ended early there may be a rate or two, all 0.
	decoded.Reset()
	require.NoError(t, Draw(records[len(records)-1:], false, &decoded))
	require.Contains(t, decoded.String(), "10 bits per key, INCOMPLETE")

	charts, err := Charts(nil)
	require.NoError(t, err)
	require.Empty(t, charts)
}
