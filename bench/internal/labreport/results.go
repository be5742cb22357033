// Package labreport makes one page of what the subcommands of bench measured: which filter, which
// setting, and what it costs. All of it comes from Results, so the page can be made again from the
// file of them.
package labreport

import (
	"encoding/json"
	"fmt"

	"github.com/levelbloom/levelbloom/bench/internal/curvebench"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// Results is what results.json contains.
type Results struct {
	Command string  `json:"command"` // that made it
	Keys    string  `json:"keys"`    // the keys of the verdict, in words
	Own     bool    `json:"own"`     // they are the user's own
	Bits    float64 `json:"bits"`    // bits per key of the verdict
	Quick   bool    `json:"quick"`   // too small for conclusions about speed
	Parts   []Part  `json:"parts"`
	// Compared is how the results differ from former ones, if there are any.
	Compared *Comparison `json:"compared,omitempty"`
}

// A Part is what one run of a subcommand measured.
type Part struct {
	Name    string      `json:"name"`
	Command string      `json:"command"` // that measures it alone
	Error   string      `json:"error,omitempty"`
	Report  report.File `json:"report"`
}

// Measured reports whether the part measured anything before it ended.
func (p Part) Measured() bool { return len(p.Report.Records) > 0 }

// The names of the parts.
const (
	Engines  = "engines"
	TradeOff = "tradeoff" // rates against bits per key
	Shapes   = "shapes"   // rates by shape of keys
	Curve    = "curve"
	Speeds   = "filters"
)

// parts are the records of all parts. Those that are missing are empty.
type parts struct {
	engines  []enginebench.Run
	tradeOff []ratebench.Record
	shapes   []ratebench.Record
	curve    []curvebench.Record
	speeds   []filterbench.Record
}

func (r *Results) decode() (p parts, err error) {
	into := map[string]any{
		Engines: &p.engines, TradeOff: &p.tradeOff, Shapes: &p.shapes, Curve: &p.curve,
		Speeds: &p.speeds,
	}
	for _, part := range r.Parts {
		records := into[part.Name]
		if records == nil {
			return p, fmt.Errorf("no part is named %q", part.Name)
		}
		if !part.Measured() {
			continue
		}
		if err := json.Unmarshal(part.Report.Records, records); err != nil {
			return p, fmt.Errorf("the records of %s: %w", part.Name, err)
		}
	}
	return p, nil
}

// problem says what is missing, or "".
func (r *Results) problem() (text string) {
	for _, part := range r.Parts {
		if part.Error != "" {
			text += fmt.Sprintf("%s: %s. ", part.Name, part.Error)
		}
	}
	return text
}
