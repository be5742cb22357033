package analysis

import (
	"cmp"
	"context"
)

// An asker asks the filters for absent keys, and keeps what a second pass over the entries needs.
type asker struct {
	*analyst
	ctx context.Context

	passed  suspects            // absent keys between the table's own
	between reservoir[question] // of absent keys between the table's own
	random  reservoir[question] // of random keys
}

// ask asks the filters for absent keys of all kinds, and reads the table again where the answers call for it.
func (a *analyst) ask(ctx context.Context) error {
	a.report.BetweenUnasked, a.report.BeyondUnasked = a.unaskable()
	if !a.known {
		return nil
	}
	k := &asker{
		analyst: a,
		ctx:     ctx,
		passed:  suspects{},
		between: reservoir[question]{rng: a.rng, limit: maxQuestions},
		random:  reservoir[question]{rng: a.rng, limit: maxRandom},
	}
	if err := k.askBetween(); err != nil {
		return err
	}
	if err := k.askOthers(); err != nil {
		return err
	}
	return k.lookAgain()
}

// unaskable says why no filter can be asked for keys between those of the table, or beyond them; "" if it can.
func (a *analyst) unaskable() (between, beyond string) {
	const order = "the keys are not in bytewise order, so the table has another comparer, and what lies between two keys is not known"
	switch {
	case a.info.Filters == nil:
		return "the table has no filter", "the table has no filter"
	case a.info.Unverified != "" || !a.known:
		return a.report.Unverified, a.report.Unverified
	case !a.seen.bytewise:
		return order, ""
	}
	return "", ""
}

// askBetween asks the filters that lookups would ask.
func (k *asker) askBetween() error {
	r := &k.report
	if r.BetweenUnasked != "" {
		return nil
	}
	c := counter{k: k}
	err := betweenKeys(k.rng, k.seen.pairs.sample, k.shapes, k.absent, func(key []byte) error {
		filter := k.t.Locate(key)
		if filter < 0 {
			return nil
		}
		k.between.offer(question{filter, key})
		may, err := c.ask(filter, key)
		if may {
			if s, ok := suspect(k.info.Filters, filter, key); ok {
				k.passed[s]++
			}
		}
		return err
	})
	if r.Between = c.rate(); c.asked == 0 {
		r.BetweenUnasked = "no key of the same shape lies between two keys where a filter is asked for it"
	}
	return err
}

// askOthers asks for keys that belong to no filter: beyond the range of the keys, or random. Each filter with keys has its
// turn, in random order.
func (k *asker) askOthers() error {
	var turn []int
	for i, filter := range k.info.Filters.Each {
		if len(filter) > 0 {
			turn = append(turn, i)
		}
	}
	r := &k.report
	if len(turn) == 0 || k.seen.keys == 0 {
		r.BeyondUnasked = cmp.Or(r.BeyondUnasked, "no filter has keys")
		return nil
	}
	k.rng.Shuffle(len(turn), func(i, j int) { turn[i], turn[j] = turn[j], turn[i] })

	if r.BeyondUnasked == "" {
		c := counter{k: k}
		err := beyondKeys(k.rng, k.seen.first, k.seen.last, k.shapes, k.absent, func(key []byte) error {
			_, err := c.ask(turn[c.asked%len(turn)], key)
			return err
		})
		if err != nil {
			return err
		}
		if r.Beyond = c.rate(); c.asked == 0 {
			r.BeyondUnasked = "no key of the same shape lies beyond the keys"
		}
	}
	c := counter{k: k}
	err := randomKeys(k.rng, k.seen.sample.sample, k.absent, func(key []byte) error {
		filter := turn[c.asked%len(turn)]
		k.random.offer(question{filter, key})
		_, err := c.ask(filter, key)
		return err
	})
	r.Random = c.rate()
	return err
}

// lookAgain reads the table a second time if its filters do badly and it can find out why.
func (k *asker) lookAgain() error {
	dense := k.report.Between.clearlyAbove(k.report.Random)
	var other []*trial
	if k.layout != nil {
		other = trials(*k.layout, &k.report, k.between.sample, k.random.sample)
	}
	if !dense && len(other) == 0 {
		return nil
	}
	return k.report.again(k.ctx, k.t, k.passed, other)
}

// A counter asks filters and counts the answers. It ends when ctx does.
type counter struct {
	k             *asker
	asked, passed int
}

func (c *counter) ask(filter int, key []byte) (may bool, err error) {
	filters := c.k.info.Filters
	may = filters.Encoding.MayContain(filters.Each[filter], key)
	c.asked++
	if may {
		c.passed++
	}
	if c.asked%1024 == 0 {
		err = c.k.ctx.Err()
	}
	return may, err
}

func (c *counter) rate() Rate { return newRate(int64(c.asked), int64(c.passed)) }
