package chart

// A Look tells what is drawn from everything else: by its color, and by its shape.
type Look struct {
	Color string
	Glyph string // an SVG path around 0, 0
	Open  bool   // the glyph is lines, and not filled
}

// looks are those of filters. The colors are told apart by color-blind people too (Okabe and Ito,
// "Color Universal Design", 2008), and have a contrast of 3 or more with white and with a dark
// page. Those of engines are rings, around a glyph with the same rate.
var looks = map[string]Look{
	"bloom":     {"#d55e00", "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", false},
	"tuned":     {"#1a7fc0", "M-3 -3h6v6h-6z", false},
	"ribbon":    {"#009e73", "M0 -4l4 7h-8z", false},
	"goleveldb": {"currentColor", "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0z", true},
	"pebblev2":  {"currentColor", "M0 -6.5l6.5 6.5l-6.5 6.5l-6.5 -6.5z", true},
}

// Other is the look of what is no kind of filter.
var Other = Look{"#808080", "M-3.5 0h7M0 -3.5v7", true}

// LookOf returns the look of a filter of that name, or Other. It is the same in all charts.
func LookOf(name string) Look {
	if look, ok := looks[name]; ok {
		return look
	}
	return Other
}
