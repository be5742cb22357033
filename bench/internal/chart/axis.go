package chart

import (
	"fmt"
	"math"
)

// An Axis shows numbers from Min to Max, which are above 0 and differ, by their logarithms. Or it
// shows names, the first one on top, at len(Names)-1.
type Axis struct {
	Label    string
	Min, Max float64
	Names    []Name
}

// A Name is a text at an axis, with an example below it if there is one.
type Name struct{ Text, Example string }

// A scale turns numbers into pixels.
type scale struct {
	Label     string
	From, To  float64 // pixels
	Ticks     []tick
	low, high float64 // at From and To; of a logarithmic axis the logarithms
	log       bool
}

// A tick is a name at a pixel.
type tick struct {
	Name
	At float64
}

// scale returns the axis from one pixel to another.
func (a Axis) scale(from, to float64) scale {
	if n := len(a.Names); n > 0 {
		s := scale{Label: a.Label, From: from, To: to, low: -0.6, high: float64(n) - 0.4}
		for i, name := range a.Names {
			s.Ticks = append(s.Ticks, tick{name, s.at(float64(n - 1 - i))})
		}
		return s
	}
	s := scale{a.Label, from, to, nil, math.Log10(a.Min), math.Log10(a.Max), true}
	for _, v := range roundNumbers(a.Min, a.Max) {
		s.Ticks = append(s.Ticks, tick{Name{Text: fmt.Sprintf("%.10g", v)}, s.at(v)})
	}
	return s
}

// at returns the pixel of a number.
func (s scale) at(value float64) float64 {
	if s.log {
		value = math.Log10(value)
	}
	return s.From + (value-s.low)/(s.high-s.low)*(s.To-s.From)
}

// Middle returns the pixel in the middle.
func (s scale) Middle() float64 { return (s.From + s.To) / 2 }

// roundNumbers returns some between low and high, so many that there are four or more if high is twice low, and no
// more than have room.
func roundNumbers(low, high float64) (ticks []float64) {
	for _, steps := range [][]float64{{1}, {1, 3}, {1, 2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9}} {
		ticks = nil
		for power := math.Floor(math.Log10(low)); power <= math.Log10(high); power++ {
			for _, step := range steps {
				value := step * math.Pow(10, power)
				if value >= low*0.999 && value <= high*1.001 {
					ticks = append(ticks, value)
				}
			}
		}
		if len(ticks) >= 4 {
			break
		}
	}
	return ticks
}
