package census

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/engine"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verdict"
)

// counts are how many data blocks 1,000 lookups of absent keys read, by the table's number.
type counts struct {
	Sampled, Lookups int
	Get, Has, Bare   map[int]float64
	Memory           string
}

// An order says which database to count in, and how to tell that it goes on.
type order struct {
	engine.Options
	planned  engine.Sizes // with ribbon filters
	progress func(format string, args ...any)
}

// countReads counts. The error may be that of ctx.
func (o order) countReads(ctx context.Context) (c counts, err error) {
	bare := o
	bare.Names, bare.Room = nil, int64(o.planned.Indexes)
	rng := rand.New(rand.NewPCG(1, 4))
	var keys, next [][]byte
	err = open(bare.Options, nil, func(db engine.DB) (err error) {
		keys, next, err = neighbors(db, rng, func(seen int) error {
			o.progress("counting what lookups read: %d keys seen", seen)
			return ctx.Err()
		})
		if err == nil {
			c.Memory, err = db.Memory(o.planned)
		}
		return err
	})
	if err != nil {
		return c, err
	}
	absent := absentKeys(keys, next, rng)
	for _, all := range [][][]byte{keys, absent} { // so that blocks are not read in order
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	c.Sampled, c.Lookups = len(keys), len(absent)
	if c.Get, err = o.reads(ctx, keys, absent, engine.DB.Get); err != nil {
		return c, err
	}
	if c.Has = c.Get; o.View.Engine != "goleveldb" {
		if c.Has, err = o.reads(ctx, keys, absent, engine.DB.Has); err != nil {
			return c, err
		}
	}
	c.Bare, err = bare.reads(ctx, keys, absent, engine.DB.Get)
	return c, err
}

// neighbors returns a random sample of the keys, and the key that follows each. From time to time
// it tells how many keys it has seen; it ends with an error of tell.
func neighbors(db engine.DB, rng *rand.Rand, tell func(seen int) error,
) (keys, next [][]byte, err error) {
	seen := 0
	var before []byte
	err = db.Keys(func(key []byte) error {
		pair := seen - 1 // its place in the sample
		if pair >= maxLookups {
			pair = rng.IntN(seen)
		} else if pair >= 0 {
			keys, next = append(keys, nil), append(next, nil)
		}
		if pair >= 0 && pair < maxLookups {
			keys[pair], next[pair] = bytes.Clone(before), bytes.Clone(key)
		}
		before = append(before[:0], key...)
		if seen++; seen%1024 != 0 {
			return nil
		}
		return tell(seen)
	})
	return keys, next, err
}

// A counter counts reads of tables. An engine may read in goroutines of its own.
type counter struct {
	sync.Mutex
	sum     int
	byTable map[int]int
}

func (c *counter) count(number int) {
	c.Lock()
	defer c.Unlock()
	c.sum++
	c.byTable[number]++
}

func (c *counter) reset() {
	c.Lock()
	defer c.Unlock()
	c.sum, c.byTable = 0, map[int]int{}
}

// hasEnough reports whether there were so many reads that their number has an error of 1 %.
func (c *counter) hasEnough() bool {
	c.Lock()
	defer c.Unlock()
	return c.sum >= 10_000
}

// reads returns how many data blocks 1,000 lookups of absent keys read in each table. Lookups of
// some present keys come first: they also read indexes, whose parts Pebble reads one by one, and
// filters.
func (o order) reads(ctx context.Context, present, absent [][]byte,
	look func(engine.DB, []byte) (bool, error),
) (map[int]float64, error) {
	const warm = 1 << 14
	var c counter
	c.reset()
	lookups := 0
	err := open(o.Options, c.count, func(db engine.DB) error {
		one := func(key []byte) error {
			o.progress("counting what lookups read: %d of at most %d", lookups, len(absent))
			_, err := look(db, key)
			return cmp.Or(ctx.Err(), err)
		}
		for _, key := range present[:min(len(present), warm)] {
			if err := one(key); err != nil {
				return err
			}
		}
		c.reset()
		for ; lookups < len(absent) && !c.hasEnough(); lookups++ {
			if err := one(absent[lookups]); err != nil {
				return err
			}
		}
		return nil
	})
	c.Lock()
	defer c.Unlock()
	per1000 := map[int]float64{}
	for number, n := range c.byTable {
		per1000[number] = 1000 * float64(n) / float64(max(1, lookups))
	}
	return per1000, err
}

// describe adds up what the tables are like.
func (d *Database) describe() {
	for _, r := range d.Tables {
		level := d.level(engine.Number(r.Path))
		level.Tables++
		if r.Report == nil {
			continue
		}
		d.Keys += r.Keys
		d.Bytes += r.Size
		level.Entries += r.Entries
		level.RibbonBytes += r.Ribbon.Bytes
		encodings := verdict.NoFilter
		if r.Filters != nil {
			level.FilterBytes += float64(r.Filters.Bytes)
			level.Policies[r.Policy]++
			encodings = r.Kinds()
		}
		if r.Keys == 0 {
			encodings = verdict.NoKeys
		}
		if encodings != policy.EncodingRibbon && encodings != verdict.NoKeys {
			d.Old += r.Size
		}
		level.Filters[encodings]++
	}
}

// level returns the level of a table.
func (d *Database) level(table int) *verdict.Level {
	number := d.named[table].Level
	at, found := slices.BinarySearchFunc(d.Levels, number, func(l verdict.Level, number int) int {
		return l.Number - number
	})
	if !found {
		d.Levels = slices.Insert(d.Levels, at, verdict.Level{
			Number: number, Policies: map[string]int{}, Filters: map[string]int{}})
	}
	return &d.Levels[at]
}

// unfit says why nothing can be counted, if that is so.
func (d *Database) unfit() string {
	unread := 0
	for _, r := range d.Tables {
		if r.Status == scan.Unverified {
			return r.Reason
		}
		if r.Status != scan.Sound && r.Status != scan.NoFilter {
			unread++
		}
	}
	switch {
	case len(d.named)+d.Unnamed == 0:
		return "there are no tables yet, the data is all in the log"
	case unread > 0:
		return scan.Count(unread, "table") + " of the database cannot be read, or trusted"
	case d.newer > len(d.named): // older ones may wait for a reader of theirs
		return fmt.Sprintf("the manifest names %s, and leaves out %d newer ones: it may be old",
			scan.Count(len(d.named), "table"), d.newer)
	}
	return ""
}

// count counts what lookups read, and sets the verdict. The error is that of ctx.
func (d *Database) count(ctx context.Context, e engine.Options) error {
	o := order{Options: e, progress: d.options.Progress}
	o.Names = []string{policy.Name, policy.NameGoLevelDB}
	for _, r := range d.Tables {
		o.planned.Indexes += uint64(r.IndexBytes)
		o.planned.Filters += uint64(r.Ribbon.Bytes)
		o.planned.Largest = max(o.planned.Largest, uint64(r.Ribbon.Bytes))
		o.Room += r.IndexBytes
		if r.Filters == nil {
			continue
		}
		o.Room += r.Filters.Bytes
		isOurs := tables.IsOurs(r.Policy, d.options.Policies)
		if isOurs && !slices.Contains(o.Names, r.Policy) {
			o.Names = append(o.Names, r.Policy)
		}
	}
	c, err := o.countReads(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		why := d.Engine + ": " + err.Error()
		if strings.Contains(why, "decompressed into unexpected buffer") {
			why = "Pebble v1 cannot read zstd here: build filterdump with CGO_ENABLED=0"
		}
		d.Note = "nothing was counted: " + why
		return nil
	}
	d.Sampled, d.Lookups, d.Memory = c.Sampled, c.Lookups, c.Memory
	for _, r := range d.Tables {
		number := engine.Number(r.Path)
		level := d.level(number)
		level.Get += c.Get[number]
		level.Has += c.Has[number]
		level.Bare += c.Bare[number]
		level.Ribbon += c.Bare[number] * r.Ribbon.FPP
	}
	d.Verdict = verdict.Of(d.Figures)
	return nil
}
