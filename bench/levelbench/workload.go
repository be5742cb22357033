package levelbench

import (
	"math/rand"

	"github.com/levelbloom/levelbloom/bench/keyset"
)

// An action is what an operation does.
type action uint8

const (
	miss      action = iota // looks up an absent key
	hit                     // looks up a key that was loaded
	overwrite               // stores a key that was loaded
	insert                  // stores a new key
)

func (a action) looksUp() bool { return a == miss || a == hit }

// Counts has the number of operations of each action.
type Counts [4]int

// Lookups returns the number of misses and hits.
func (c Counts) Lookups() int { return c[miss] + c[hit] }

// Writes returns the number of keys that are stored.
func (c Counts) Writes() int { return c[overwrite] + c[insert] }

// An operation does something with a key: the one of this index among the absent, the loaded or the new keys.
type operation struct {
	action action
	key    uint32
}

// A workload is what every run does. The settings and the seed alone determine it.
type workload struct {
	operations []operation
	counts     Counts
	keys       [4]keys // by action
	valueSize  int
	values     []byte // random; a value is a piece of it
}

// keys are keys of one length, one after the other: without pointers, the garbage collector takes no time over them.
type keys struct {
	bytes  []byte
	length int
}

func (k keys) at(i uint32) []byte {
	start := int(i) * k.length
	return k.bytes[start : start+k.length : start+k.length]
}

func (k keys) count() int { return len(k.bytes) / k.length }

// newWorkload makes the workload of c.
func (c *Config) newWorkload() (*workload, error) {
	w := &workload{operations: make([]operation, c.Operations), valueSize: c.ValueSize}
	rng := rand.New(rand.NewSource(c.Seed))
	for i := range w.operations {
		o := &w.operations[i]
		switch p := rng.Float64(); {
		case p < c.Writes/2:
			*o = operation{insert, uint32(w.counts[insert])}
		case p < c.Writes:
			*o = operation{overwrite, uint32(rng.Intn(c.Keys))}
		case p < c.Writes+(1-c.Writes)*c.Hits:
			*o = operation{hit, uint32(rng.Intn(c.Keys))}
		default:
			o.action = miss
		}
		w.counts[o.action]++
	}

	set, err := keyset.New(c.Shape, c.Keys+w.counts[insert], c.Density, c.Seed)
	if err != nil {
		return nil, err
	}
	length := len(set.AppendPresent(nil, 0))
	var loaded, inserts, absent []byte
	for i := range c.Keys {
		loaded = set.AppendPresent(loaded, i)
	}
	for i := range w.counts[insert] {
		inserts = set.AppendPresent(inserts, c.Keys+i)
	}
	for _, key := range set.Between(w.counts[miss]) {
		absent = append(absent, key...)
	}
	w.keys = [4]keys{miss: {absent, length}, hit: {loaded, length}, overwrite: {loaded, length}, insert: {inserts, length}}
	for i := range w.operations {
		if o := &w.operations[i]; o.action == miss {
			o.key = uint32(rng.Intn(w.keys[miss].count()))
		}
	}
	w.values = make([]byte, 1<<20+c.ValueSize)
	rng.Read(w.values)
	return w, nil
}

// value returns the value that is stored in turn i.
func (w *workload) value(i int) []byte {
	at := i * 61 % (len(w.values) - w.valueSize)
	return w.values[at : at+w.valueSize]
}

// bytesOf returns the bytes of n keys and their values.
func (w *workload) bytesOf(n int) int { return n * (w.keys[hit].length + w.valueSize) }
