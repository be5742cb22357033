package filterbench

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/levelbloom/levelbloom/policy"
)

// A Kind is a kind of filter with its bits per key.
type Kind struct {
	Name string // as FromString takes it
	Bits float64
	New  func() *Filter
	// Promised returns the highest mean false-positive rate that the kind promises for filters of
	// n keys of any shape. It is nil if the kind promises none.
	Promised func(n int) float64
}

// FromString returns the kind of a name: goleveldb and pebblev2 are the engines' own, others are
// those that policy.FromString takes. The name may lack the colon and the bits per key, which are
// the given ones then: "bloom", "ribbon:7". The error says what to pass instead.
func FromString(spec string, bits float64) (Kind, error) {
	k := Kind{Name: spec}
	name, number, hasBits := strings.Cut(spec, ":")
	if !hasBits {
		number = fmt.Sprint(bits)
	}
	if name == "goleveldb" || name == "pebblev2" {
		return k.own(name, number)
	}
	p, err := policy.FromString(name + ":" + number)
	if err != nil {
		return k, err
	}
	number, _, _ = strings.Cut(number, ",") // options
	if k.Bits, err = strconv.ParseFloat(number, 64); err != nil {
		return k, err
	}
	k.New = func() *Filter { return ofPolicy(p) }
	if name == "ribbon" && k.Bits <= 20 {
		k.Promised = func(n int) float64 { return 1.05 * p.FPP(n) }
	}
	return k, nil
}

// own returns an engine's own kind, which takes whole bits per key: it rounds them up. With more
// than 100, goleveldb's filters are not LevelDB's.
func (k Kind) own(name, number string) (Kind, error) {
	var err error
	k.Bits, err = strconv.ParseFloat(number, 64)
	if err != nil || !(k.Bits > 0 && k.Bits <= 100) {
		return k, fmt.Errorf("%s: %q bits per key: pass a number above 0, at most 100", name,
			number)
	}
	bits := int(math.Ceil(k.Bits))
	k.New = func() *Filter { return ofGoLevelDB(filter.NewBloomFilter(bits)) }
	if name == "pebblev2" {
		k.New = func() *Filter { return ofPebble(bloom.FilterPolicy(bits)) }
	}
	return k, nil
}
