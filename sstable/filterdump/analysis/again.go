package analysis

import (
	"context"

	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

// A suspicion is that a key of this filter has this hash.
type suspicion struct {
	filter int
	hash   uint64
}

// suspects counts the absent keys that passed, by filter and hash.
type suspects map[suspicion]int64

// suspect is not ok if the encoding of the filter has no hash to share.
func suspect(f *tables.Filters, filter int, key []byte) (s suspicion, ok bool) {
	x := f.Encoding.Of(f.Each[filter]).Explain(nil, key) // the hash of an encoding of one kind is the key's alone
	return suspicion{filter, x.Hash}, x.HashBits > 0
}

// again reads the table a second time, to find out why absent keys pass, and what would help: it counts those that share
// their hash with a key of the same filter, which passes at any number of bits, and runs the trials.
func (r *Report) again(ctx context.Context, t tables.Table, passed suspects, trials []*trial) error {
	filters := t.Info().Filters
	collisions := int64(0)
	err := eachEntry(ctx, t, func(filter int, key []byte) error {
		if filter < 0 {
			return nil
		}
		if len(passed) > 0 {
			if s, ok := suspect(filters, filter, key); ok {
				collisions += passed[s]
				delete(passed, s)
			}
		}
		for _, trial := range trials {
			trial.add(filter, key)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if r.Between.Asked > 0 {
		r.BetweenCollisions = &collisions
	}
	for _, trial := range trials {
		if o, ok := trial.conclude(); ok {
			r.Others = append(r.Others, o)
		}
	}
	return nil
}
