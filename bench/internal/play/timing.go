package play

import (
	"context"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
)

const (
	turns     = filters.Rounds
	timedKeys = filters.LeastKeys
)

// A work is what filters do, and goleveldb's own with as many bits per key, rounded up, do too.
type work struct {
	Name  string  `json:"name"`
	Ns    float64 `json:"ns"`    // median of the turns, per key
	Base  float64 `json:"base"`  // goleveldb's
	Ratio float64 `json:"ratio"` // times as fast as goleveldb's, the median of the turns
	Low   float64 `json:"low"`   // the fourth lowest ratio
	High  float64 `json:"high"`  // the fourth highest
}

// compare lets both take turns.
func compare(ctx context.Context, c *choice) (all []work, err error) {
	if _, err := c.policy(); err != nil {
		return nil, err
	}
	busy.Lock()
	defer busy.Unlock()
	base, _ := filters.FromString("goleveldb", c.Bits) // takes what policies take
	chosen, _ := filters.FromString(c.Kind, c.Bits)
	speeds, err := filters.CompareSpeeds(ctx, []filters.Kind{base, chosen}, []int{c.N},
		func(int, int, string) {})
	for i := 0; i < len(speeds) && err == nil; i += 3 { // the base has a second turn
		base, s := speeds[i], speeds[i+2]
		name := map[string]string{"build": "builds", "hit": "hits", "miss": "misses"}[s.Work]
		all = append(all, work{name, s.Ns, base.Ns, s.Ratio, s.Low, s.High})
	}
	return all, err
}
