package census

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/engine"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verdict"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verify"
)

// count counts what lookups read, and sets the verdict.
func (d *Database) count(o engine.Options) {
	o.Names = []string{policy.NameLevelDB, policy.NameGoLevelDB}
	for name := range d.Total.Policies { // all tables are sound, so these filters are ours
		if name != verify.Pebbles && !slices.Contains(o.Names, name) {
			o.Names = append(o.Names, name)
		}
	}
	if err := d.countReads(o); err != nil {
		d.Note = fmt.Sprintf("nothing was counted: %s: %v", d.Engine, err)
		return
	}
	d.Verdict = verdict.Of(d.Figures)
}

// countReads fills in what is counted, and what is computed from that.
func (d *Database) countReads(o engine.Options) error {
	bare := o
	bare.Names = nil
	for _, r := range d.Tables {
		bare.Room += r.IndexBytes
		o.Room += r.IndexBytes + r.FilterBytes
	}
	rng := rand.New(rand.NewPCG(1, 4))
	var keys, next [][]byte
	err := open(bare, func(int) {}, func(db engine.DB) (err error) {
		keys, next, err = neighbors(db, rng, func(seen int) {
			d.options.Progress("reading keys: %d of at most %d", seen, d.Total.Entries)
		})
		if err == nil {
			d.BlockCache, d.OpenTables, err = db.Memory(uint64(d.Total.RibbonBytes) + uint64(bare.Room))
		}
		return err
	})
	if err != nil {
		return err
	}
	absent := absentKeys(keys, next, rng)
	for _, all := range [][][]byte{keys, absent} { // so that blocks are not read in order
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	d.Sampled, d.Lookups = len(keys), len(absent)
	get, err := d.lookUp("by Get", o, keys, absent, engine.DB.Get)
	has := get
	if err == nil && d.Engine != "goleveldb" {
		has, err = d.lookUp("by Has", o, keys, absent, engine.DB.Has)
	}
	if err != nil {
		return err
	}
	without, err := d.lookUp("without filters", bare, keys, absent, engine.DB.Get)
	d.Get, d.Has, d.Bare = get.per1000(get.sum), has.per1000(has.sum), without.per1000(without.sum)
	for _, r := range d.Tables {
		d.Ribbon += without.per1000(without.byTable[engine.Number(r.Path)]) * r.RibbonFPP
	}
	return err
}

// neighbors returns a random sample of the keys, and the key that follows each.
func neighbors(db engine.DB, rng *rand.Rand, progress func(seen int),
) (keys, next [][]byte, err error) {
	seen := 0
	var before []byte
	err = db.Keys(func(key []byte) {
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
		if seen++; seen%1024 == 0 {
			progress(seen)
		}
	})
	return keys, next, err
}

// reads are those of tables by lookups.
type reads struct {
	lookups, sum int
	byTable      map[int]int
}

// per1000 returns how many of n reads 1,000 lookups make.
func (r *reads) per1000(n int) float64 { return 1000 * float64(n) / float64(max(1, r.lookups)) }

// lookUp looks absent keys up until there are so many reads that their number has an error of 1 %.
// Lookups of some present keys come first: they also read indexes, whose parts Pebble reads one by
// one, and filters.
func (d *Database) lookUp(how string, o engine.Options, present, absent [][]byte,
	look func(engine.DB, []byte) (bool, error),
) (r reads, err error) {
	const enough = 10_000
	warm := min(len(present), 1<<14)
	var mutex sync.Mutex // an engine may read in goroutines of its own
	r.byTable = map[int]int{}
	count := func(number int) {
		mutex.Lock()
		defer mutex.Unlock()
		r.sum++
		r.byTable[number]++
	}
	err = open(o, count, func(db engine.DB) error {
		keys := slices.Concat(present[:warm], absent)
		for i := range len(keys) + 1 { // there may be no absent keys
			mutex.Lock()
			if i == warm {
				r.sum, r.byTable = 0, map[int]int{}
			}
			isEnough := i > warm && r.sum >= enough
			mutex.Unlock()
			if isEnough || i == len(keys) {
				break
			}
			d.options.Progress("looking up keys %s: %d of at most %d", how, i+1, len(keys))
			if _, err := look(db, keys[i]); err != nil {
				return err
			}
			r.lookups = max(0, i+1-warm)
		}
		return nil
	})
	return r, err
}
