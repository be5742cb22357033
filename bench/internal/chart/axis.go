package chart

import (
	"math"
	"strconv"
)

// An Axis shows numbers from Min to Max, or all that is drawn if these are equal. Those of a
// logarithmic axis are above 0. Or it shows names, the first one on top, at len(Names)-1.
type Axis struct {
	Label    string
	Min, Max float64
	Log      bool
	Names    []Name
}

// A Name is a text at an axis, with an example below it if there is one.
type Name struct{ Text, Example string }

type tick struct {
	Name
	at float64
}

// A scale turns numbers into pixels.
type scale struct {
	low, high float64 // at from and to; of a logarithmic axis the logarithms
	from, to  float64
	log       bool
	ticks     []tick
}

func (s scale) at(value float64) float64 {
	if s.log {
		value = math.Log10(value)
	}
	return s.from + (value-s.low)/(s.high-s.low)*(s.to-s.from)
}

// scale returns the axis from one pixel to another. values are those drawn.
func (a Axis) scale(from, to float64, values []float64) scale {
	low, high := a.Min, a.Max
	if low == high {
		for _, v := range values {
			low, high = min(low, v), max(high, v)
		}
	}
	if n := len(a.Names); n > 0 {
		s := scale{low: -0.6, high: float64(n) - 0.4, from: from, to: to}
		for i, name := range a.Names {
			s.ticks = append(s.ticks, tick{name, float64(n - 1 - i)})
		}
		return s
	}
	if a.Log {
		if low == high {
			low, high = low/2, high*2
		}
		return scale{math.Log10(low), math.Log10(high), from, to, true, logTicks(low, high)}
	}
	if low == high {
		high = low + 1
	}
	return scale{low, high, from, to, false, linearTicks(low, high)}
}

// logTicks returns ticks at round numbers, so many that there are three labels or more, and no more
// than have room.
func logTicks(low, high float64) (ticks []tick) {
	for _, steps := range [][]float64{{1}, {1, 3}, {1, 2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9}} {
		ticks = nil
		for power := math.Floor(math.Log10(low)); power <= math.Log10(high); power++ {
			for _, step := range steps {
				value := step * math.Pow(10, power)
				if value >= low*0.999 && value <= high*1.001 {
					ticks = append(ticks, newTick(value))
				}
			}
		}
		if len(ticks) >= 4 {
			return ticks
		}
	}
	if len(ticks) < 3 {
		return linearTicks(low, high)
	}
	return ticks
}

// linearTicks returns 4 to 9 ticks at multiples of 1, 2 or 5 times a power of ten.
func linearTicks(low, high float64) (ticks []tick) {
	step := math.Pow(10, math.Floor(math.Log10(high-low)))
	for _, part := range []float64{1, 0.5, 0.2} {
		if step*part*4 <= high-low {
			step *= part
			break
		}
	}
	for i := math.Ceil(low/step - 1e-9); i*step <= high+step*1e-9; i++ {
		ticks = append(ticks, newTick(i*step))
	}
	return ticks
}

// newTick labels a round number with as few digits as it has.
func newTick(value float64) tick {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 10, 64), 64)
	rounded += 0 // -0 is 0
	text := strconv.FormatFloat(rounded, 'f', -1, 64)
	switch {
	case rounded >= 1e6:
		text = strconv.FormatFloat(rounded/1e6, 'f', -1, 64) + "M"
	case rounded >= 1e4:
		text = strconv.FormatFloat(rounded/1e3, 'f', -1, 64) + "k"
	}
	return tick{Name{Text: text}, value}
}
