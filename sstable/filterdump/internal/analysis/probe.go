package analysis

import "cmp"

// probe asks the filters about absent keys of all sorts.
func (a *analyzer) probe() error {
	a.report.BetweenUnasked, a.report.BeyondUnasked = a.unaskable()
	if a.filters == nil || a.filters.Reader == nil {
		return nil
	}
	if err := a.askBetween(); err != nil {
		return err
	}
	return a.askOthers()
}

// unaskable says why no filter can be asked about keys between those of the table, or beyond them;
// "" if it can.
func (a *analyzer) unaskable() (between, beyond string) {
	const order = "the keys are not in bytewise order: the table has another comparer, and what " +
		"lies between two keys is not known"
	switch {
	case a.filters == nil:
		return "the table has no filter", "the table has no filter"
	case a.filters.Reader == nil || a.info.Unverified != "":
		return a.report.Unverified, a.report.Unverified
	case !a.seen.bytewise:
		return order, ""
	}
	return "", ""
}

// askBetween asks the filters that lookups would ask.
func (a *analyzer) askBetween() error {
	r := &a.report
	if r.BetweenUnasked != "" {
		return nil
	}
	c := counter{a: a}
	err := betweenKeys(a.rng, a.seen.pairs.sample, a.shapes, a.absent, func(key []byte) error {
		filter := a.t.Locate(key)
		if filter < 0 {
			return nil
		}
		return c.ask(filter, key)
	})
	if r.Between = c.rate(); c.asked == 0 {
		r.BetweenUnasked = "no key of the same shape lies between two keys where a filter is asked"
	}
	return err
}

// askOthers asks about keys that belong to no filter: beyond the range of the keys, or random. The
// filters with keys take turns, in random order.
func (a *analyzer) askOthers() error {
	var turn []int
	for i, filter := range a.filters.Each {
		if len(filter) > 0 {
			turn = append(turn, i)
		}
	}
	r := &a.report
	if len(turn) == 0 || a.seen.keys == 0 {
		r.BeyondUnasked = cmp.Or(r.BeyondUnasked, "no filter has keys")
		return nil
	}
	a.rng.Shuffle(len(turn), func(i, j int) { turn[i], turn[j] = turn[j], turn[i] })

	if r.BeyondUnasked == "" {
		c := counter{a: a}
		ask := func(key []byte) error { return c.ask(turn[c.asked%len(turn)], key) }
		err := beyondKeys(a.rng, a.seen.first, a.seen.last, a.shapes, a.absent, ask)
		if err != nil {
			return err
		}
		if r.Beyond = c.rate(); c.asked == 0 {
			r.BeyondUnasked = "no key of the same shape lies beyond the keys"
		}
	}
	c := counter{a: a}
	err := randomKeys(a.rng, a.seen.sample.sample, a.absent, func(key []byte) error {
		return c.ask(turn[c.asked%len(turn)], key)
	})
	r.Random = c.rate()
	return err
}

// A counter asks filters and counts the answers.
type counter struct {
	a             *analyzer
	asked, passed int
}

// ask returns the error of the context, if that has ended.
func (c *counter) ask(filter int, key []byte) error {
	c.asked++
	if c.a.filters.Reader.MayContain(c.a.filters.Each[filter], key) {
		c.passed++
	}
	if c.asked%1024 == 0 {
		return c.a.ctx.Err()
	}
	return nil
}

func (c *counter) rate() Rate { return newRate(int64(c.asked), int64(c.passed)) }
