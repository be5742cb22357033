package verdict

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy"
)

// count returns events / of with its interval of 95 %, taking the events as independent (Poisson's
// distribution, score interval).
func count(events, of int64) report.Spread {
	if of == 0 {
		return report.Spread{Middle: math.NaN()}
	}
	const z = 1.96
	n, k := float64(of), float64(events)
	middle, half := k+z*z/2, z*math.Sqrt(k+z*z/4)
	return report.Spread{Middle: k / n, Low: max(0, middle-half) / n, High: (middle + half) / n}
}

func times(s report.Spread, factor float64) report.Spread {
	return report.Spread{Middle: s.Middle * factor, Low: s.Low * factor, High: s.High * factor}
}

// number writes a figure with its interval, each with two digits that count.
func number(s report.Spread) string {
	if math.IsNaN(s.Middle) {
		return "unknown"
	}
	return fmt.Sprintf("%s [%s to %s]", digits(s.Middle), digits(s.Low), digits(s.High))
}

func percent(s report.Spread) string {
	if math.IsNaN(s.Middle) {
		return "unknown"
	}
	s = times(s, 100)
	return fmt.Sprintf("%s\u00a0%% [%s to %s]", digits(s.Middle), digits(s.Low), digits(s.High))
}

// digits writes x with two digits that count, or as a whole number.
func digits(x float64) string {
	// Rounded first: 0.0996 is 0.10, which has one decimal less.
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 1, 64), 64)
	if rounded == 0 || math.Abs(rounded) >= 10 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', 1-int(math.Floor(math.Log10(math.Abs(rounded)))), 64)
}

// call returns the line of Go that makes ribbon filters for the inquiry's engine. goleveldb has a
// name of its own for LevelDB's filters, unless C++ LevelDB shares the files.
func (q *inquiry) call(bits float64) string {
	call := fmt.Sprintf("p, err := policy.NewRibbon(%v", bits)
	shared := q.Disk != nil && q.Disk.Sample.Policies[policy.Name] > 0
	if q.engine == "goleveldb" && !shared {
		call += ", policy.WithName(policy.NameGoLevelDB)"
	}
	return call + ")"
}

// code returns the lines of Go to change: for lookups of absent keys in Pebble's L6 if that is
// worth a change, for the best filter, or for the one that saves memory.
func (q *inquiry) code() []string {
	configure := fmt.Sprintf("err = %s.Configure(options, p", q.engine)
	switch whole := engine.WholeBits(q.Bits); {
	case q.l6() != "":
		return []string{q.call(q.Bits), configure + ", " + q.engine + ".WithL6(p))",
			fmt.Sprintf("found, err := %s.Has(db, key)", q.engine)}
	case q.best.filter == q.now.filter && q.saved() > 0:
		bits, _ := strconv.ParseFloat(strings.TrimPrefix(q.small().filter, "ribbon:"), 64)
		return []string{q.call(bits) + " // to save memory", configure + ")"}
	case q.best.filter == q.now.filter:
		return nil
	case q.best.filter == engine.BuiltIn && q.engine == "goleveldb":
		return []string{fmt.Sprintf("options.Filter = filter.NewBloomFilter(%d)", whole)}
	case q.best.filter == engine.BuiltIn:
		return []string{fmt.Sprintf("options.Levels[i].FilterPolicy = bloom.FilterPolicy(%d) "+
			"// of each level but the last", whole)}
	}
	return []string{q.call(q.Bits), configure + ")"}
}
