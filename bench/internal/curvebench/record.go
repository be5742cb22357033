package curvebench

import (
	"math"

	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/sizing"
)

// A Record is a point of a kind's curve.
type Record struct {
	View     string  `json:"view" doc:"what rates are measured against: fill, bits or n"`
	Kind     string  `json:"kind" doc:"kind of filter"`
	Shape    string  `json:"shape" doc:"shape of the keys"`
	Density  string  `json:"density" doc:"which keys of a range are present"`
	Capacity int     `json:"capacity" doc:"keys that a filter is sized for"`
	N        int     `json:"n" doc:"keys in a filter"`
	Bits     float64 `json:"bits" doc:"bits per key asked for"`
	K        int     `json:"k" doc:"probes per key; of ribbon filters, columns"`

	Textbook  float64 `json:"textbook" doc:"the textbook's rate for these bits and k; 0 for ribbon"`
	Predicted float64 `json:"predicted" doc:"this module's prediction, for well-mixed keys"`
	Mean      float64 `json:"mean" doc:"mean rate of the runs, 0 to 1"`
	Deviation float64 `json:"deviation" doc:"standard deviation of the runs' rates"`
	Target    float64 `json:"target" doc:"rate to compare with"`
	Runs      []Run   `json:"runs" doc:"the runs, each with other keys"`
}

// A Run is one measurement of a point.
type Run struct {
	FalsePositives int     `json:"false_positives" doc:"absent keys that a filter may contain"`
	Queries        int     `json:"queries" doc:"absent keys asked"`
	Filters        int     `json:"filters" doc:"filters built"`
	FPR            float64 `json:"fpr" doc:"false positives per query, 0 to 1"`
}

// newRecord returns the record of a result, without what was measured.
func (c *Config) newRecord(v View, r ratebench.Result) (Record, error) {
	p, err := r.Kind.New(r.Bits)
	if err != nil {
		return Record{}, err
	}
	record := Record{
		View: string(v), Kind: r.Kind.Name, Shape: r.Shape.Name, Density: r.Density.Name,
		Capacity: r.N, N: r.N, Bits: r.Bits, K: r.K, Target: c.Target,
	}
	if s, ok := p.(sized); ok {
		p, record.Capacity = s.Policy, s.capacity
		record.Predicted, err = sizing.Filled(p, s.capacity, r.N)
	} else {
		record.Predicted = p.(interface{ FPP(n int) float64 }).FPP(r.N)
	}
	if err != nil {
		return record, err
	}
	if r.Encoding != policy.EncodingRibbon {
		record.Textbook, err = sizing.Textbook(r.N, 8*r.BitBytes, r.K)
	}
	return record, err
}

// summarize computes the mean and the standard deviation of the runs.
func (r *Record) summarize() {
	for _, run := range r.Runs {
		r.Mean += run.FPR / float64(len(r.Runs))
	}
	squares := 0.0
	for _, run := range r.Runs {
		squares += (run.FPR - r.Mean) * (run.FPR - r.Mean)
	}
	if n := len(r.Runs); n > 1 {
		r.Deviation = math.Sqrt(squares / float64(n-1))
	}
}

// x returns the place on the horizontal axis.
func (r Record) x() float64 {
	switch View(r.View) {
	case Fill:
		return float64(r.N) / float64(r.Capacity)
	case Bits:
		return r.Bits
	}
	return float64(r.N)
}
