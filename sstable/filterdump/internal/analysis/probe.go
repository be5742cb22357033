package analysis

import "cmp"

// A prober asks the filters about absent keys, and keeps those that trials ask about again.
type prober struct {
	*analyzer
	between reservoir[question] // keys between the table's own
	random  reservoir[question] // random keys
}

// probe asks the filters about absent keys of all sorts, and tries other settings if the answers call
// for it.
func (a *analyzer) probe() error {
	a.report.BetweenUnasked, a.report.BeyondUnasked = a.unaskable()
	if a.filters == nil || a.filters.Reader == nil {
		return nil
	}
	p := &prober{
		analyzer: a,
		between:  reservoir[question]{rng: a.rng, limit: maxBetweenQuestions},
		random:   reservoir[question]{rng: a.rng, limit: maxRandomQuestions},
	}
	if err := p.askBetween(); err != nil {
		return err
	}
	if err := p.askOthers(); err != nil {
		return err
	}
	return p.trySettings()
}

// unaskable says why no filter can be asked about keys between those of the table, or beyond them;
// "" if it can.
func (a *analyzer) unaskable() (between, beyond string) {
	const order = "the keys are not in bytewise order: the table has another comparer, and what lies " +
		"between two keys is not known"
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
func (p *prober) askBetween() error {
	r := &p.report
	if r.BetweenUnasked != "" {
		return nil
	}
	c := counter{p: p}
	err := betweenKeys(p.rng, p.seen.pairs.sample, p.shapes, p.absent, func(key []byte) error {
		filter := p.t.Locate(key)
		if filter < 0 {
			return nil
		}
		p.between.offer(question{filter, key})
		return c.ask(filter, key)
	})
	if r.Between = c.rate(); c.asked == 0 {
		r.BetweenUnasked = "no key of the same shape lies between two keys where a filter is asked"
	}
	return err
}

// askOthers asks about keys that belong to no filter: beyond the range of the keys, or random. The
// filters with keys take turns, in random order.
func (p *prober) askOthers() error {
	var turn []int
	for i, filter := range p.filters.Each {
		if len(filter) > 0 {
			turn = append(turn, i)
		}
	}
	r := &p.report
	if len(turn) == 0 || p.seen.keys == 0 {
		r.BeyondUnasked = cmp.Or(r.BeyondUnasked, "no filter has keys")
		return nil
	}
	p.rng.Shuffle(len(turn), func(i, j int) { turn[i], turn[j] = turn[j], turn[i] })

	if r.BeyondUnasked == "" {
		c := counter{p: p}
		ask := func(key []byte) error { return c.ask(turn[c.asked%len(turn)], key) }
		err := beyondKeys(p.rng, p.seen.first, p.seen.last, p.shapes, p.absent, ask)
		if err != nil {
			return err
		}
		if r.Beyond = c.rate(); c.asked == 0 {
			r.BeyondUnasked = "no key of the same shape lies beyond the keys"
		}
	}
	c := counter{p: p}
	err := randomKeys(p.rng, p.seen.sample.sample, p.absent, func(key []byte) error {
		filter := turn[c.asked%len(turn)]
		p.random.offer(question{filter, key})
		return c.ask(filter, key)
	})
	r.Random = c.rate()
	return err
}

// trySettings reads the table a second time for the trials.
func (p *prober) trySettings() error {
	trials := p.trials()
	if len(trials) == 0 {
		return nil
	}
	err := p.eachEntry(func(filter int, key []byte) error {
		for _, t := range trials {
			t.add(filter, key)
		}
		return nil
	})
	for _, t := range trials {
		if result, ok := t.conclude(); ok {
			p.report.Trials = append(p.report.Trials, result)
		}
	}
	return err
}

// A counter asks filters and counts the answers.
type counter struct {
	p             *prober
	asked, passed int
}

// ask returns the error of the context, if that has ended.
func (c *counter) ask(filter int, key []byte) error {
	c.asked++
	if c.p.filters.Reader.MayContain(c.p.filters.Each[filter], key) {
		c.passed++
	}
	if c.asked%1024 == 0 {
		return c.p.ctx.Err()
	}
	return nil
}

func (c *counter) rate() Rate { return newRate(int64(c.asked), int64(c.passed)) }
