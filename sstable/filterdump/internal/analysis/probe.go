package analysis

import "iter"

// probe asks the filters about absent keys of both sorts: those that lie between the table's own,
// which each filter gets as lookups would ask it, and random ones, which belong to no filter, so
// that the filters with keys take turns, in random order.
func (a *analyzer) probe() (err error) {
	r := &a.report
	switch {
	case a.filters == nil:
		r.BetweenUnasked = "the table has no filter"
		return nil
	case a.filters.Reader == nil:
		r.BetweenUnasked = r.Unverified
		return nil
	case a.info.Unverified != "":
		r.BetweenUnasked = r.Unverified
	case !a.seen.bytewise:
		r.BetweenUnasked = "the keys are not in bytewise order: the table has another comparer, " +
			"and what lies between two keys is not known"
	default:
		keys := betweenKeys(a.rng, a.seen.pairs.sample, a.shapes, a.absent)
		if r.Between, err = a.ask(keys, a.t.Locate); err != nil {
			return err
		}
		if r.Between.Asked == 0 {
			r.BetweenUnasked = "no key of the same shape lies between two keys where a filter is " +
				"asked"
		}
	}
	var turns []int
	for i, filter := range a.filters.Each {
		if len(filter) > 0 {
			turns = append(turns, i)
		}
	}
	if len(turns) == 0 || a.seen.keys == 0 {
		return nil
	}
	a.rng.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
	turn := -1
	r.Random, err = a.ask(randomKeys(a.rng, a.seen.sample.sample, a.absent), func([]byte) int {
		turn++
		return turns[turn%len(turns)]
	})
	return err
}

// ask asks about each key the filter that locate returns, none if that is -1. The error is that of
// the context, if it has ended.
func (a *analyzer) ask(keys iter.Seq[[]byte], locate func(key []byte) int) (Rate, error) {
	var asked, passed int64
	for key := range keys {
		filter := locate(key)
		if filter < 0 {
			continue
		}
		asked++
		if a.filters.Reader.MayContain(a.filters.Each[filter], key) {
			passed++
		}
		if asked%1024 == 0 {
			if err := a.ctx.Err(); err != nil {
				return Rate{}, err
			}
		}
	}
	return newRate(asked, passed), nil
}
