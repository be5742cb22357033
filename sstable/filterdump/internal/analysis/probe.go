package analysis

import "iter"

// probe asks the filters about absent keys of both sorts: those that lie between the table's own,
// which each filter gets as lookups would ask it, and random ones, which belong to no filter, so
// that the filters with keys take turns, in random order.
func (a *analyzer) probe() (err error) {
	r := &a.report
	r.BetweenUnasked = a.unaskable()
	if a.filters == nil || a.filters.Reader == nil {
		return nil
	}
	if r.BetweenUnasked == "" {
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

// unaskable says why no filter can be asked about keys between those of the table, "" if it can.
func (a *analyzer) unaskable() string {
	switch {
	case a.filters == nil:
		return "the table has no filter"
	case a.filters.Reader == nil || a.info.Unverified != "":
		return a.report.Unverified
	case !a.seen.bytewise:
		return "the keys are not in bytewise order: the table has another comparer, and what " +
			"lies between two keys is not known"
	}
	return ""
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
