package play

import (
	"context"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
)

// compare lets filters take turns with goleveldb's own of as many bits per key, rounded up.
func compare(ctx context.Context, c *choice) ([]filters.Speed, error) {
	if _, err := c.policy(); err != nil {
		return nil, err
	}
	busy.Lock()
	defer busy.Unlock()
	base, _ := filters.FromString("goleveldb", c.Bits) // takes what policies take
	chosen, _ := filters.FromString(c.Kind, c.Bits)
	return filters.CompareSpeeds(ctx, []filters.Kind{base, chosen}, []int{c.N},
		func(int, int, string) {})
}
