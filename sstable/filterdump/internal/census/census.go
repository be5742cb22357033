package census

import (
	"bytes"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/sstable/filterdump/verdict"
)

// A count is one attempt to count.
type count struct {
	*Database
	ctx    context.Context
	reader scan.Reader
	tables []placed        // that could be read
	unread map[string]bool // paths
}

type placed struct {
	tables.Placed
	result *scan.Result
}

// figures returns what was counted. The error is that of the context.
func (c *count) figures() (f verdict.Figures, err error) {
	f.Engine, f.Cache = engineOf(c.Path)
	if f.Why = c.place(); f.Why != "" {
		return f, nil
	}
	anchors, next, err := c.neighbors()
	if err != nil {
		return f, err
	}
	rng := rand.New(rand.NewPCG(1, 4))
	between, random := absentKeys(anchors, next, rng), randomKeys(anchors, rng)
	f.Sampled, f.Lookups = len(anchors), len(between)
	levels, err := c.lookUp(between)
	if err != nil {
		return f, err
	}
	others, err := c.lookUp(random)
	for _, level := range others {
		f.Random += level.Read
	}
	c.describe(&f, levels)
	return f, err
}

// describe adds the sizes of the tables and filters.
func (c *count) describe(f *verdict.Figures, levels map[int]*verdict.Level) {
	f.Unread, f.Names = len(c.unread), map[string]int{}
	seen := map[string]bool{}
	for _, p := range c.tables {
		level, r := levels[p.Level], p.result
		level.Tables++
		if r.Filters == nil {
			level.Unfiltered++
		}
		if seen[p.Path] { // a virtual table of the same file
			continue
		}
		seen[p.Path] = true
		f.Keys += r.Keys
		f.Bytes += r.Size
		f.IndexBytes += r.IndexBytes
		level.RibbonBytes += r.Ribbon.Bytes
		level.SmallBytes += r.Small.Bytes
		if r.Filters != nil {
			level.FilterBytes += r.Filters.Bytes
			f.Names[r.Policy]++
		}
	}
	for _, number := range slices.Sorted(maps.Keys(levels)) {
		f.Levels = append(f.Levels, *levels[number])
	}
}

// place finds the tables that can be consulted. It says why nothing can be counted, if that is so.
func (c *count) place() (why string) {
	results := map[string]*scan.Result{}
	for _, r := range c.Tables {
		results[r.Path] = r
	}
	for _, p := range c.structure.Tables {
		r := results[p.Path]
		switch {
		case r == nil || r.Report == nil:
			c.unread[p.Path] = true
			continue
		case r.Status == scan.Unverified:
			return r.Reason
		case r.Disordered:
			return "the keys are not in the order of the default comparer"
		}
		c.tables = append(c.tables, placed{p, r})
	}
	return ""
}

// within returns which of the sorted keys lie in the table's range: those from one index to
// another.
func (p *placed) within(keys [][]byte) (from, to int) {
	from = sort.Search(len(keys), func(i int) bool {
		return bytes.Compare(keys[i], p.Smallest) >= 0
	})
	to = sort.Search(len(keys), func(i int) bool { return bytes.Compare(keys[i], p.Largest) > 0 })
	return from, max(from, to)
}

// consult asks a question of each table whose range has some of the sorted keys, several tables at
// once. It then calls f with the answers, one after the other; from is the index of the first key
// of the question.
func (c *count) consult(
	keys [][]byte, question func(keys [][]byte) *scan.Question,
	f func(p *placed, from int, a *scan.Answer),
) error {
	results := make([]*scan.Result, len(c.tables))
	err := scan.Each(c.ctx, len(c.tables), func(i int) {
		p := &c.tables[i]
		if from, to := p.within(keys); from < to {
			results[i] = c.reader.Read(c.ctx, p.Path, question(keys[from:to]))
		}
	})
	for i, r := range results {
		p := &c.tables[i]
		switch {
		case r == nil: // no key is in its range
		case r.Status != "":
			c.unread[p.Path] = true
		default:
			from, _ := p.within(keys)
			f(p, from, &r.Answer)
		}
	}
	return err
}

// neighbors returns keys of the sample, and the key of the database that follows each: the smallest
// among the next keys in the tables whose range has the key, and the first keys of the others.
func (c *count) neighbors() (keys, next [][]byte, err error) {
	all := c.sample.Keys()
	follow, found := make([][]byte, len(all)), make([]bool, len(all))
	question := func(keys [][]byte) *scan.Question { return &scan.Question{Next: keys} }
	err = c.consult(all, question, func(p *placed, from int, a *scan.Answer) {
		for i, key := range a.Next {
			found[from+i] = true
			if len(key) > 0 && bytes.Compare(key, p.Largest) <= 0 {
				follow[from+i] = smaller(follow[from+i], key)
			}
		}
	})
	var first [][]byte
	for _, p := range c.tables {
		first = append(first, p.Smallest)
	}
	slices.SortFunc(first, bytes.Compare)
	for i, key := range all {
		for len(first) > 0 && bytes.Compare(first[0], key) <= 0 {
			first = first[1:]
		}
		if len(first) > 0 {
			follow[i] = smaller(follow[i], first[0])
		}
		if found[i] && follow[i] != nil {
			keys, next = append(keys, key), append(next, follow[i])
		}
	}
	return keys, next, err
}

// smaller returns the smaller of two keys; nil is above all.
func smaller(a, b []byte) []byte {
	if a == nil || bytes.Compare(b, a) < 0 {
		return b
	}
	return a
}

// lookUp looks up absent keys. What it counts is per 1,000 of them.
func (c *count) lookUp(keys [][]byte) (map[int]*verdict.Level, error) {
	levels := map[int]*verdict.Level{}
	simulated := map[int]*scan.Tally{}
	for _, p := range c.tables {
		levels[p.Level] = &verdict.Level{Number: p.Level}
		simulated[p.Level] = &scan.Tally{}
	}
	question := func(keys [][]byte) *scan.Question { return &scan.Question{Absent: keys} }
	err := c.consult(keys, question, func(p *placed, _ int, a *scan.Answer) {
		simulated[p.Level].Simulated += a.Simulated
		simulated[p.Level].SimulatedPassed += a.SimulatedPassed
		level, per := levels[p.Level], 1000/float64(len(keys))
		bare := float64(a.Lookups) // what is read without a filter
		if a.Probed > 0 {
			bare *= float64(a.ProbedReads) / float64(a.Probed)
		}
		level.Ranges += per * float64(a.Lookups)
		level.Checks += per * float64(a.Filtered)
		level.Read += per * float64(a.Reads)
		if p.result.Filters == nil {
			level.ReadUnfiltered += per * float64(a.Reads)
		}
		level.Bare += per * bare
		level.Ribbon += per * bare * p.result.Ribbon.FPP
		level.Small += per * bare * p.result.Small.FPP
	})
	for number, t := range simulated {
		if t.Simulated > 0 {
			rate := float64(t.SimulatedPassed) / float64(t.Simulated)
			levels[number].Tuned = rate * levels[number].Bare
		}
	}
	return levels, err
}
