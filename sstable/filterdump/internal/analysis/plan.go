package analysis

import "github.com/levelbloom/levelbloom/policy"

// A Plan is what other filters of the same keys would be.
type Plan struct {
	Bytes float64 `json:"bytes"`
	// FPP is the mean of their false-positive probabilities, weighted by their keys: absent keys
	// fall among present ones.
	FPP float64 `json:"fpp"`
}

// The ribbon filters that are planned: those that are recommended, and those that save memory.
var (
	ribbon, _      = policy.NewRibbon(10)
	smallRibbon, _ = policy.NewRibbon(7)
)

// plan returns what filters of these numbers of keys would be. Each of a window takes 4 bytes more
// for its offset.
func plan(r *policy.Ribbon, keys []int64) (p Plan) {
	var all float64
	for _, n := range keys {
		if n > 0 {
			p.Bytes += float64(r.FilterSize(int(n)))
			p.FPP += float64(n) * r.FPP(int(n))
			all += float64(n)
		}
	}
	if len(keys) > 1 {
		p.Bytes += 4 * float64(len(keys))
	}
	p.FPP = ratio(p.FPP, all)
	return p
}
