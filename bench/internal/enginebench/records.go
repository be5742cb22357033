package enginebench

import "github.com/levelbloom/levelbloom/bench/internal/engine"

// Records are what turns measured, in their order.
type Records struct {
	Counted []Counted `json:"counted"`
	Timed   []Timed   `json:"timed"`
}

// Counted is what lookups of absent keys read with a filter. It is the same on every machine.
type Counted struct {
	Engine  string `json:"engine"`
	Filter  string `json:"filter"`
	Lookups int64  `json:"lookups"` // of absent keys between the present ones
	Reads   int64  `json:"reads"`   // of table data in these lookups
	engine.Tables
}

// Timed is the speed of a filter in a round.
type Timed struct {
	Engine    string  `json:"engine"`
	Filter    string  `json:"filter"`
	Round     int     `json:"round"`      // from 1
	Load      float64 `json:"load_per_s"` // keys stored, flushed and compacted per second
	Miss      Pass    `json:"miss"`       // lookups of absent keys between the present ones
	Hit       Pass    `json:"hit"`        // of present keys
	Rewritten Pass    `json:"rewritten"`  // of keys with an older version in a lower level
}

// A Pass is timed lookups of one sort of keys.
type Pass struct {
	PerSecond float64 `json:"per_s"` // lookups
	Reads     float64 `json:"reads"` // of table data, per lookup
}

// of returns a figure of the turns of a filter in an engine, by round.
func (r *Records) of(engineName, filter string, f figure) (values []float64) {
	for _, t := range r.Timed {
		if t.Engine == engineName && t.Filter == filter {
			values = append(values, f(t))
		}
	}
	return values
}

// A figure is one of those of a turn.
type figure func(Timed) float64

func missSpeed(t Timed) float64      { return t.Miss.PerSecond }
func hitSpeed(t Timed) float64       { return t.Hit.PerSecond }
func rewrittenSpeed(t Timed) float64 { return t.Rewritten.PerSecond }
func loadSpeed(t Timed) float64      { return t.Load }
func hitReads(t Timed) float64       { return t.Hit.Reads }
func rewrittenReads(t Timed) float64 { return t.Rewritten.Reads }
