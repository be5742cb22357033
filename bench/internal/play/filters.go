package play

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/policy"
)

// A question is what the page sends: the keys to store, how to build filters of them, and the key
// to look up.
type question struct {
	Keys  []string `json:"keys"`
	Shape string   `json:"shape"` // of further keys; may be empty
	N     int      `json:"n"`     // further keys
	Bits  float64  `json:"bits"`  // per key
	Ask   string   `json:"ask"`   // the key to look up, or empty
}

// The first four limit a question.
const (
	maxKeys     = 10_000
	maxKeyBytes = 1000
	maxBits     = 20 // per key
	maxBody     = 1 << 20

	asked    = 20_000 // absent keys whose answers are counted
	samples  = 16     // keys that the page shows
	examples = 8      // false positives that it may show
)

type kind struct{ Name, Idea string }

// kinds are the kinds of filter that the page shows, as filters.PolicyOf takes them.
var kinds = []kind{
	{"bloom", "LevelDB's Bloom filter, byte for byte"},
	{"bloom+tuned", "the same, with a size that suits dense numbers"},
	{"ribbon", "the fewest false positives, with keys of any shape; only levelbloom reads it"},
}

// An answer is what the page shows.
type answer struct {
	N       int      `json:"n"`      // distinct keys
	Sample  []string `json:"sample"` // the first keys
	Filters []filter `json:"filters"`
}

// A filter is one kind of filter of all the keys.
type filter struct {
	Kind           string   `json:"kind"`
	Bytes          []byte   `json:"bytes"`
	Bits           int      `json:"bits"` // without the last byte, which tells the encoding
	K              int      `json:"k"`
	Random         rate     `json:"random"`  // among random absent keys
	Between        rate     `json:"between"` // among absent keys between those of the shape
	Contains       bool     `json:"contains"`
	Stored         bool     `json:"stored"`
	Probes         []probe  `json:"probes"`
	Deciding       []int    `json:"deciding"`       // bits that each decide the answer, in ribbon
	Absent         string   `json:"absent"`         // a key that the filter excludes
	FalsePositives []string `json:"falsePositives"` // absent keys that it does not
}

// A rate is how many of some absent keys are false positives.
type rate struct {
	False int `json:"false"`
	Asked int `json:"asked"`
}

// A probe is a bit that a lookup tests.
type probe struct {
	Bit    uint64   `json:"bit"`
	Set    bool     `json:"set"`
	Owners []string `json:"owners"` // the keys that set it
}

// reply builds all kinds of filter, and looks the key up in them unless it is empty.
func reply(_ context.Context, q *question) (*answer, error) {
	m, err := newMaterial(q)
	if err != nil {
		return nil, err
	}
	a := &answer{N: len(m.stored)}
	for _, key := range m.stored[:min(len(m.stored), samples)] {
		a.Sample = append(a.Sample, string(key))
	}
	for _, k := range kinds {
		p, err := filters.PolicyOf(k.Name, q.Bits)
		if err != nil {
			return nil, err
		}
		f := filter{Kind: k.Name, Bytes: p.AppendFilter(nil, m.stored), Stored: m.isStored[q.Ask]}
		info, _ := policy.Parse(f.Bytes) // takes what policies make
		f.Bits, f.K = 8*(len(f.Bytes)-1), info.K
		f.Between = f.count(m.between) // its examples come first
		f.Random = f.count(m.random)
		f.Contains = policy.MayContain(f.Bytes, []byte(q.Ask))
		if info.Encoding != policy.EncodingRibbon && q.Ask != "" {
			f.Probes = m.probes(&f, q.Ask)
		} else if f.Contains && q.Ask != "" {
			f.Deciding = f.deciding([]byte(q.Ask))
		}
		a.Filters = append(a.Filters, f)
	}
	return a, nil
}

// A material is the keys of a question.
type material struct {
	stored          [][]byte
	isStored        map[string]bool
	random, between [][]byte // absent
}

// newMaterial returns the keys. If those of a shape have an order, they are 63 % of a range.
func newMaterial(q *question) (*material, error) {
	m := &material{isStored: map[string]bool{}}
	isLong := func(key string) bool { return len(key) > maxKeyBytes }
	if q.Bits > maxBits || q.N < 0 || q.N > maxKeys || len(q.Keys) > maxKeys-q.N ||
		slices.ContainsFunc(append(q.Keys, q.Ask), isLong) {
		return nil, fmt.Errorf("pass at most %d bits per key, %d keys, and %d bytes in a key",
			maxBits, maxKeys, maxKeyBytes)
	}
	for _, key := range q.Keys {
		m.stored = append(m.stored, []byte(key))
	}
	if q.N > 0 {
		isShape := func(s keys.Shape) bool { return s.Name == q.Shape }
		if !slices.ContainsFunc(shapes(), isShape) {
			return nil, fmt.Errorf("no shape %q", q.Shape)
		}
		source := keys.Sources([]string{q.Shape}, []string{"63%"})[0]
		set := source.Set(q.N, asked)
		m.stored = append(m.stored, set.Present...)
		if source.Density.Between() {
			m.between = set.Between
		}
	}
	m.stored = slices.DeleteFunc(m.stored, func(key []byte) bool {
		again := m.isStored[string(key)]
		m.isStored[string(key)] = true
		return again
	})
	for i := range uint64(asked) {
		m.random = append(m.random, fmt.Appendf(nil, "%08x", uint32(keys.Mix(i))))
	}
	isStored := func(key []byte) bool { return m.isStored[string(key)] }
	m.random = slices.DeleteFunc(m.random, isStored)
	m.between = slices.DeleteFunc(m.between, isStored)
	return m, nil
}

// shapes returns the shapes whose keys are text, as the page shows them.
func shapes() []keys.Shape {
	return slices.DeleteFunc(slices.Clone(keys.Shapes), func(s keys.Shape) bool {
		return strings.HasPrefix(s.Example(), "0x")
	})
}

// count looks absent keys up in f, and keeps some of them as examples.
func (f *filter) count(absent [][]byte) rate {
	r := rate{Asked: len(absent)}
	for _, key := range absent {
		if !policy.MayContain(f.Bytes, key) {
			f.Absent = cmp.Or(f.Absent, string(key))
		} else if r.False++; len(f.FalsePositives) < examples {
			f.FalsePositives = append(f.FalsePositives, string(key))
		}
	}
	return r
}

// probes returns the probes of the key that is looked up, and which keys set their bits.
func (m *material) probes(f *filter, ask string) (all []probe) {
	for _, bit := range f.probesOf([]byte(ask)) {
		all = append(all, probe{Bit: bit, Set: f.Bytes[bit/8]>>(bit%8)&1 != 0})
	}
	for _, key := range m.stored {
		bits := f.probesOf(key)
		for i := range all {
			if slices.Contains(bits, all[i].Bit) {
				all[i].Owners = append(all[i].Owners, string(key))
			}
		}
	}
	return all
}

// probesOf returns which bits of a filter in LevelDB's encoding a lookup of key reads.
func (f *filter) probesOf(key []byte) (all []uint64) {
	h := util.Hash(key, 0xbc9f1d34)
	delta := h>>17 | h<<15
	for range f.K {
		all = append(all, uint64(h)%uint64(f.Bits))
		h += delta
	}
	return all
}

// deciding returns the bits of a filter that contains key of which each, if it were different,
// would make the filter exclude key. It tries them all.
func (f *filter) deciding(key []byte) (all []int) {
	changed := slices.Clone(f.Bytes)
	for bit := range f.Bits {
		changed[bit/8] ^= 1 << (bit % 8)
		if !policy.MayContain(changed, key) {
			all = append(all, bit)
		}
		changed[bit/8] ^= 1 << (bit % 8)
	}
	return all
}
