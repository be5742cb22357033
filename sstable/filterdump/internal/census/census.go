// Package census counts what lookups of absent keys meet in the tables of a database. It takes the
// structure from the manifest and consults the filters that are there. It opens no database and
// runs no engine.
package census

import (
	"bytes"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/sstable/filterdump/verdict"
)

// A Database is a directory whose tables have been read.
type Database struct {
	Dir       string
	Structure *tables.Structure
	Results   []*scan.Result
	Sample    *analysis.Sample // of all keys
}

// Read reads all tables of a database.
func Read(
	ctx context.Context, r *scan.Reader, dir string, s *tables.Structure,
) (*Database, error) {
	d := &Database{Dir: dir, Structure: s, Sample: analysis.NewSample(analysis.All)}
	return d, d.read(ctx, r)
}

// read reads those tables that have not been read.
func (d *Database) read(ctx context.Context, r *scan.Reader) error {
	known := map[string]bool{}
	for _, result := range d.Results {
		known[result.Path] = true
	}
	paths := slices.DeleteFunc(d.Structure.Paths(), func(path string) bool { return known[path] })
	results, err := r.Tables(ctx, paths, d.Sample)
	d.Results = append(d.Results, results...)
	return err
}

// Count counts. The error is that of ctx: where nothing can be said, the verdict says why.
//
// A database that is in use may delete a table before it is consulted, because others have its
// entries. Then the manifest names others; these are read, and Count begins anew, a few times.
func (d *Database) Count(ctx context.Context, r *scan.Reader) (*verdict.Verdict, error) {
	const attempts = 10
	for attempt := 1; ; attempt++ {
		c := &count{Database: d, ctx: ctx, reader: r, unread: map[string]bool{}}
		f, err := c.figures()
		if err != nil || len(c.unread) == 0 || attempt == attempts {
			return verdict.Of(f), err
		}
		s, err := tables.ReadStructure(d.Dir)
		if err != nil || slices.Equal(s.Paths(), d.Structure.Paths()) {
			return verdict.Of(f), nil
		}
		d.Structure = s
		if err := d.read(ctx, r); err != nil {
			return verdict.Of(f), err
		}
	}
}

// A count is under way.
type count struct {
	*Database
	ctx    context.Context
	reader *scan.Reader
	tables []placed        // that could be read
	unread map[string]bool // paths
}

type placed struct {
	tables.Placed
	result *scan.Result
}

// figures returns what is counted. The error is that of the context.
func (c *count) figures() (f verdict.Figures, err error) {
	f.Engine, f.Cache = engineOf(c.Dir)
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

// describe adds what the tables have.
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

// place finds the tables that can be asked. It says why nothing can be, if that is so.
func (c *count) place() (why string) {
	results := map[string]*scan.Result{}
	for _, r := range c.Results {
		results[r.Path] = r
	}
	for _, p := range c.Structure.Tables {
		r := results[p.Path]
		switch {
		case r == nil || r.Report == nil:
			c.unread[p.Path] = true
			continue
		case r.Status == scan.Unverified:
			return r.Reason
		case r.Disordered:
			return "the keys are in the order of another comparer than the default one"
		}
		c.tables = append(c.tables, placed{p, r})
	}
	return ""
}

// within returns those of the sorted keys that lie in the table's range.
func (p *placed) within(keys [][]byte) (from, to int) {
	from = sort.Search(len(keys), func(i int) bool {
		return bytes.Compare(keys[i], p.Smallest) >= 0
	})
	to = sort.Search(len(keys), func(i int) bool { return bytes.Compare(keys[i], p.Largest) > 0 })
	return from, max(from, to)
}

// ask asks each table whose range has some of the sorted keys, several at once, and then calls f
// with the answers, one table after the other; from is the number of the first key that was asked.
func (c *count) ask(
	keys [][]byte, what func(keys [][]byte) *scan.Questions,
	f func(p *placed, from int, a *scan.Answers),
) error {
	answers := make([]*scan.Answers, len(c.tables))
	errs := make([]error, len(c.tables))
	err := c.reader.Each(c.ctx, len(c.tables), func(i int) {
		p := &c.tables[i]
		if from, to := p.within(keys); from < to {
			answers[i], errs[i] = c.reader.Ask(c.ctx, p.Path, what(keys[from:to]))
		}
	})
	for i := range c.tables {
		p := &c.tables[i]
		if errs[i] != nil {
			c.unread[p.Path] = true
		} else if answers[i] != nil {
			from, _ := p.within(keys)
			f(p, from, answers[i])
		}
	}
	return err
}

// neighbors returns keys of the sample, and which key of the database follows each: the smallest of
// those that follow it in a table that has it in its range, and of the other tables' first keys.
func (c *count) neighbors() (keys, next [][]byte, err error) {
	all := c.Sample.Keys()
	follow, has := make([][]byte, len(all)), make([]bool, len(all))
	what := func(keys [][]byte) *scan.Questions { return &scan.Questions{Next: keys} }
	err = c.ask(all, what, func(p *placed, from int, a *scan.Answers) {
		for i, key := range a.Next {
			has[from+i] = true
			if key != nil && bytes.Compare(key, p.Largest) <= 0 {
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
		if has[i] && follow[i] != nil {
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
	simulated := map[int]scan.Tally{}
	for _, p := range c.tables {
		if levels[p.Level] == nil {
			levels[p.Level] = &verdict.Level{Number: p.Level}
		}
	}
	what := func(keys [][]byte) *scan.Questions { return &scan.Questions{Absent: keys} }
	err := c.ask(keys, what, func(p *placed, _ int, a *scan.Answers) {
		all := simulated[p.Level]
		all.Add(a.Tally)
		simulated[p.Level] = all
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
