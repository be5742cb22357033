package filters

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// Bits is how many bits per key a filter has if its name does not say.
const Bits = 10

// A Kind is a kind of filter with its bits per key.
type Kind struct {
	Name string
	New  func() *Policy
	// Bound returns the highest mean false-positive rate that the kind promises with n keys of any
	// shape in a filter, or 0 if it promises none.
	Bound func(n int) float64
}

// PolicyOf returns the policy of a name. Names are what policy.FromString takes, but with a plus
// sign before options, since commas separate names. They may lack the colon and the bits per key,
// which are the given ones then: "bloom", "ribbon:7", "bloom+tuned".
func PolicyOf(name string, bits float64) (*policy.Policy, error) {
	kind, options, _ := strings.Cut(name, "+")
	if !strings.Contains(kind, ":") {
		kind = fmt.Sprintf("%s:%v", kind, bits)
	}
	if options != "" {
		kind += "," + strings.ReplaceAll(options, "+", ",")
	}
	return policy.FromString(kind)
}

// UnmarshalText sets the kind to that of a name: goleveldb, pebblev2 and goleveldb:15 are the
// engines' own, and others are those of PolicyOf.
func (k *Kind) UnmarshalText(name []byte) error {
	*k = Kind{Name: string(name), Bound: func(int) float64 { return 0 }}
	engine, digits, _ := strings.Cut(k.Name, ":")
	if engine == "goleveldb" || engine == "pebblev2" {
		bits, err := strconv.Atoi(cmp.Or(digits, strconv.Itoa(Bits)))
		if err != nil || bits < 1 {
			return fmt.Errorf("%s: pass whole bits per key, as %s:%d", k.Name, engine, Bits)
		}
		k.New = func() *Policy { return inGoLevelDB(filter.NewBloomFilter(bits)) }
		if engine == "pebblev2" {
			k.New = func() *Policy { return inPebble(bloom.FilterPolicy(bits)) }
		}
		return nil
	}
	p, err := PolicyOf(k.Name, Bits)
	if err != nil {
		return err
	}
	k.New = func() *Policy { return inGoLevelDB(goleveldb.New(p)) }
	bits := 0.0
	if _, err := fmt.Sscanf(p.String(), "ribbon:%g", &bits); err == nil && bits <= 20 {
		k.Bound = func(n int) float64 { return 1.05 * p.FPP(n) }
	}
	return nil
}

// A Policy builds filters and looks keys up in them, as an engine does. It is not safe for
// concurrent use.
//
// The functions that return one are not inlined: the compiler could see which policy of the engine
// it is, and call it in another way than the engine, which cannot. Each has loops of its own, so
// that nothing is between a loop and the engine's interface.
type Policy struct {
	Add    func(keys [][]byte)                        // adds keys to the next filter
	Finish func(dst []byte) []byte                    // appends that filter to dst
	Count  func(filter []byte, keys [][]byte) (n int) // returns how many it may contain
}

// inGoLevelDB returns a policy as goleveldb calls it: one generator builds the filters of a table.
//
//go:noinline
func inGoLevelDB(p filter.Filter) *Policy {
	g := p.NewGenerator()
	var buffer util.Buffer
	return &Policy{
		Add: func(keys [][]byte) {
			for _, key := range keys {
				g.Add(key)
			}
		},
		Finish: func(dst []byte) []byte {
			clear(buffer.Bytes()) // goleveldb's own relies on clean memory, as of a new table
			buffer.Reset()
			g.Generate(&buffer)
			return append(dst, buffer.Bytes()...)
		},
		Count: func(filter []byte, keys [][]byte) (n int) {
			for _, key := range keys {
				if p.Contains(filter, key) {
					n++
				}
			}
			return n
		},
	}
}

// inPebble returns a policy as Pebble calls it: each table has a writer.
//
//go:noinline
func inPebble(p pebble.FilterPolicy) *Policy {
	w := p.NewWriter(pebble.TableFilter)
	return &Policy{
		Add: func(keys [][]byte) {
			for _, key := range keys {
				w.AddKey(key)
			}
		},
		Finish: func(dst []byte) []byte {
			dst = w.Finish(dst)
			w = p.NewWriter(pebble.TableFilter)
			return dst
		},
		Count: func(filter []byte, keys [][]byte) (n int) {
			for _, key := range keys {
				if p.MayContain(pebble.TableFilter, filter, key) {
					n++
				}
			}
			return n
		},
	}
}
