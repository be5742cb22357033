package play

import (
	"context"
	"fmt"
	"slices"

	"github.com/syndtr/goleveldb/leveldb/util"

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
	seed     = 1
)

// kinds are the kinds of filter that the page shows, as policy.FromString takes them.
var kinds = []struct{ Name, Idea string }{
	{"bloom", "LevelDB's Bloom filter, byte for byte"},
	{"tuned", "the same, with a size that suits dense numbers"},
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
	Encoding       string   `json:"encoding"`
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

// reply builds all kinds of filter and looks the key up in them.
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
		p, err := policy.FromString(fmt.Sprintf("%s:%v", k.Name, q.Bits))
		if err != nil {
			return nil, err
		}
		f, err := m.look(p.AppendFilter(nil, m.stored), q.Ask)
		if err != nil {
			return nil, err
		}
		f.Kind = k.Name
		a.Filters = append(a.Filters, f)
	}
	return a, nil
}

// look says all about one filter, and looks a key up in it unless the key is empty.
func (m *material) look(encoded []byte, ask string) (filter, error) {
	info, err := policy.Parse(encoded)
	if err != nil {
		return filter{}, err
	}
	bits := 8 * (len(encoded) - 1)
	f := filter{Encoding: info.Encoding, Bytes: encoded, Bits: bits, K: info.K}
	f.Between = f.count(m.between) // its examples come first
	f.Random = f.count(m.random)
	if ask == "" {
		return f, nil
	}
	f.Stored = m.isStored[ask]
	f.Contains = policy.MayContain(encoded, []byte(ask))
	if info.Encoding != policy.EncodingRibbon {
		f.Probes = m.probes(encoded[:bits/8], info.K, ask)
	} else if f.Contains {
		f.Deciding = deciding(encoded, bits, []byte(ask))
	}
	return f, nil
}

// count looks absent keys up in f, and keeps some of them as examples.
func (f *filter) count(absent [][]byte) rate {
	r := rate{Asked: len(absent)}
	for _, key := range absent {
		if !policy.MayContain(f.Bytes, key) {
			if f.Absent == "" {
				f.Absent = string(key)
			}
			continue
		}
		if r.False++; len(f.FalsePositives) < examples {
			f.FalsePositives = append(f.FalsePositives, string(key))
		}
	}
	return r
}

func isSet(array []byte, bit uint64) bool { return array[bit/8]>>(bit%8)&1 != 0 }

// probesOf returns which bits of a filter in LevelDB's encoding a lookup of key reads.
func probesOf(bits, k int, key []byte) (all []uint64) {
	h := util.Hash(key, 0xbc9f1d34)
	delta := h>>17 | h<<15
	for range k {
		all = append(all, uint64(h)%uint64(bits))
		h += delta
	}
	return all
}

// probes returns the probes of the key that is looked up, and which keys set their bits.
func (m *material) probes(array []byte, k int, ask string) (all []probe) {
	for _, bit := range probesOf(8*len(array), k, []byte(ask)) {
		all = append(all, probe{Bit: bit, Set: isSet(array, bit)})
	}
	for _, key := range m.stored {
		bits := probesOf(8*len(array), k, key)
		for i := range all {
			if slices.Contains(bits, all[i].Bit) {
				all[i].Owners = append(all[i].Owners, string(key))
			}
		}
	}
	return all
}

// deciding returns the bits of a filter that contains key of which each, if it were different,
// would make the filter exclude key. It tries them all.
func deciding(encoded []byte, bits int, key []byte) (all []int) {
	changed := slices.Clone(encoded)
	for bit := range bits {
		changed[bit/8] ^= 1 << (bit % 8)
		if !policy.MayContain(changed, key) {
			all = append(all, bit)
		}
		changed[bit/8] ^= 1 << (bit % 8)
	}
	return all
}
