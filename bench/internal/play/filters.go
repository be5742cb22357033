package play

import (
	"context"
	"fmt"
	"slices"

	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/policy"
)

// A question is what the page sends: the keys to store, how to build filters of them, and the key
// to look up.
type question struct {
	Keys  []string `json:"keys"`
	Bits  int      `json:"bits"`  // per key
	Tuned bool     `json:"tuned"` // the Bloom filter is tuned
	Ask   string   `json:"ask"`   // the key to look up, or empty
}

// The first four limit a question.
const (
	maxKeys     = 64 // with more, ribbon's keys select slots in a part of the filter only
	maxKeyBytes = 1000
	maxBits     = 20 // per key
	maxBody     = 1 << 20

	asked    = 20_000 // absent keys whose answers are counted
	examples = 8      // of absent keys, and of false positives
)

// A filter is one kind of filter of all the keys.
type filter struct {
	Kind  string   `json:"kind"`
	Size  int      `json:"size"`  // in bytes
	Rows  []string `json:"rows"`  // the bits of each byte; in a table, of each slot
	Table bool     `json:"table"` // of slots and columns, as ribbon filters are
	Seed  int      `json:"seed"`  // of a table

	Stored   bool      `json:"stored"`
	Contains bool      `json:"contains"` // what package policy answers
	Probes   []probe   `json:"probes"`   // in LevelDB's encoding
	Equation *equation `json:"equation"` // in a table

	Asked          int      `json:"asked"`          // absent keys
	False          int      `json:"false"`          // false positives among these
	Absent         []string `json:"absent"`         // some that the filter excludes
	FalsePositives []string `json:"falsePositives"` // some that it does not

	bytes []byte
}

// A probe is a bit that a lookup tests.
type probe struct {
	Bit    int      `json:"bit"`
	Owners []string `json:"owners"` // the keys that set it, as they were added; none if it is 0
}

// reply builds a Bloom filter and a ribbon filter, and looks the key up in them unless it is empty.
func reply(_ context.Context, q *question) (all []filter, err error) {
	isLong := func(key string) bool { return len(key) > maxKeyBytes }
	tooLong := slices.ContainsFunc(append(q.Keys, q.Ask), isLong)
	if q.Bits > maxBits || len(q.Keys) > maxKeys || tooLong {
		return nil, fmt.Errorf("pass at most %d bits per key, %d keys, and %d bytes in a key",
			maxBits, maxKeys, maxKeyBytes)
	}
	var stored [][]byte
	for i, key := range q.Keys {
		if !slices.Contains(q.Keys[:i], key) {
			stored = append(stored, []byte(key))
		}
	}
	for _, kind := range []string{"bloom", "ribbon"} {
		f := filter{Kind: kind, Probes: []probe{}, Stored: slices.Contains(q.Keys, q.Ask)}
		if q.Tuned && kind == "bloom" {
			kind = "bloom+tuned"
		}
		p, err := filters.PolicyOf(kind, float64(q.Bits))
		if err != nil {
			return nil, err
		}
		f.bytes = p.AppendFilter(nil, stored)
		f.Size, f.Contains = len(f.bytes), policy.MayContain(f.bytes, []byte(q.Ask))
		f.count(q.Keys)
		if info, _ := policy.Parse(f.bytes); info.Kind != "ribbon" {
			f.show(stored, q.Ask, info.Probes)
		} else if err := f.showTable(q.Ask); err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// count looks absent keys up, and keeps some of them as examples.
func (f *filter) count(stored []string) {
	f.Absent, f.FalsePositives = []string{}, []string{}
	for i := range uint64(asked) {
		key := town(i)
		switch {
		case slices.Contains(stored, key):
			continue
		case policy.MayContain(f.bytes, []byte(key)):
			f.False++
			f.FalsePositives = append(f.FalsePositives, key)
		default:
			f.Absent = append(f.Absent, key)
		}
		f.Asked++
	}
	f.Absent = f.Absent[:min(examples, len(f.Absent))]
	f.FalsePositives = f.FalsePositives[:min(examples, len(f.FalsePositives))]
}

// town returns a random name.
func town(i uint64) string {
	var name []byte
	for x := keys.Mix(i); len(name) < 8; x /= 9 * 5 {
		name = append(name, "bdklmnrst"[x%9], "aeiou"[x/9%5])
	}
	return string(name)
}

// show fills in the bits of a filter in LevelDB's encoding, and those that a lookup of key tests.
func (f *filter) show(stored [][]byte, key string, k int) {
	for _, b := range f.bytes[:len(f.bytes)-1] {
		row := fmt.Appendf(nil, "%08b", b)
		slices.Reverse(row)
		f.Rows = append(f.Rows, string(row))
	}
	if key == "" {
		return
	}
	for _, bit := range f.probesOf([]byte(key), k) {
		p := probe{Bit: bit}
		for _, other := range stored {
			if slices.Contains(f.probesOf(other, k), bit) {
				p.Owners = append(p.Owners, string(other))
			}
		}
		f.Probes = append(f.Probes, p)
	}
}

func (f *filter) probesOf(key []byte, k int) (all []int) {
	h := util.Hash(key, 0xbc9f1d34)
	delta := h>>17 | h<<15
	for range k {
		if bit := int(h % uint32(8*len(f.Rows))); !slices.Contains(all, bit) {
			all = append(all, bit)
		}
		h += delta
	}
	return all
}
