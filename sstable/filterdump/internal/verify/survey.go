package verify

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/bloom"
	pebblesst "github.com/cockroachdb/pebble/v2/sstable"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

// ribbon makes the filters that are planned.
var ribbon, _ = policy.NewRibbon(10)

// A surveyor makes one pass over the entries of a table. Its memory depends neither on their number
// nor on how far apart they lie in the file.
type surveyor struct {
	*Result
	*table
	previous []byte

	window uint64 // index of the filter that covers the last entry, or would
	added  int64  // keys from which this filter was built, or would be
	all    int64  // keys of the filters of all windows that have ended

	// Of the last key that did not match its filter: the length of the prefix that did, and of what
	// all keys since then share with it. And the rate of false positives, as measured.
	prefix, since int
	rate          float64
}

// survey reads all entries of a table, compares them with the filters that cover them, and sets the
// status. Errors are those of t.keys.
func (r *Result) survey(t *table, database bool) error {
	s := &surveyor{Result: r, table: t}
	err := t.keys(s.add)
	doubt := t.doubt
	if errors.Is(err, sstable.ErrIndexOrder) && !database {
		doubt, err = "its index is not in bytewise order: it is damaged, or its database has a "+
			"comparer of its own", nil
	}
	if err != nil {
		return err
	}
	s.endWindow()
	if s.window > 0 { // each filter of a window takes 4 bytes more for its offset
		r.RibbonBytes += 4 * float64(s.window+1)
	}
	if t.filters != nil {
		doubt = cmp.Or(doubt, s.parse())
	}
	r.Status, r.Reason = Sound, doubt
	switch {
	case r.FalseNegatives > 0 && t.filters.guessed:
		r.Status, r.FalseNegatives, r.Lost = Unverified, 0, nil
		r.Reason = fmt.Sprintf("the filters of the policy %s are of another kind, or damaged: if they "+
			"are LevelDB's or levelbloom's, pass --policy '%[1]s'", r.Policy)
	case r.FalseNegatives > 0:
		r.Status = FalseNegative
		r.Reason = fmt.Sprintf("%d of %d entries do not match their filter: %s", r.FalseNegatives,
			r.Entries, strings.Join(r.Lost, ", "))
	case doubt != "":
		r.Status = Unverified
	case t.filters == nil:
		r.Status = NoFilter
	}
	return nil
}

// add takes the next entry, and the index of the filter that covers it, or would.
func (s *surveyor) add(filter uint64, key []byte) {
	s.Entries++
	shared := 0 // how long a prefix it shares with the key before
	for shared < min(len(key), len(s.previous)) && key[shared] == s.previous[shared] {
		shared++
	}
	isNew := s.Keys == 0 || shared < max(len(key), len(s.previous))
	if s.Keys == 0 {
		shared = -1
	}
	s.since = min(s.since, shared)
	if isNew {
		s.Keys++
		s.previous = append(s.previous[:0], key...)
	}
	f := s.filters
	if f != nil && filter >= uint64(len(f.each)) { // no filter covers it
		return
	}
	if filter != s.window {
		s.endWindow()
		s.window = filter
	}
	if isNew || f == nil || !f.once {
		s.added++
	}
	if f != nil && s.doubt == "" && !f.mayContain(f.each[filter], key) {
		if s.FalseNegatives++; s.FalseNegatives == 1 {
			s.prefixed, s.prefix, s.rate = f.once, math.MaxInt, f.rate(f.each[filter])
		}
		if isNew && s.prefixed {
			s.findPrefix(f.each[filter], key, shared)
		}
		if len(s.Lost) < 10 {
			s.Lost = append(s.Lost, hex.EncodeToString(key))
		}
	}
}

// findPrefix looks for a prefix of a key that does not match its filter, which has a prefix of each
// if the comparer has a Split of its own. It weighs what speaks for that against chance. Prefixes
// that the key shares with the one before say nothing new, and one may be a key itself.
func (s *surveyor) findPrefix(filter, key []byte, shared int) {
	const longest = 256
	last := func(from, to int) int { // the longest prefix in the filter, of more than from bytes
		for to > from && !s.filters.mayContain(filter, key[:to]) {
			to--
		}
		return to
	}
	most, before, since := min(len(key)-1, longest), s.prefix, s.since
	s.since = math.MaxInt
	if before <= since { // the last key that did not match has it too
		return
	}
	s.prefix = last(-1, min(shared, most))
	if s.prefix > since { // a key in between has it too
		return
	}
	if n := last(shared, most); n > shared {
		s.prefix = n
		byChance := 1 - math.Pow(1-s.rate, float64(most-shared))
		s.evidence -= math.Log(byChance)
	}
	s.prefixed = s.prefix >= 0
}

// endWindow plans the filter of a window that has ended.
func (s *surveyor) endWindow() {
	if n := int(s.added); n > 0 {
		s.all += s.added
		s.RibbonBytes += float64(ribbon.FilterSize(n))
		s.RibbonFPP += (ribbon.FPP(n) - s.RibbonFPP) * float64(n) / float64(s.all)
		s.added = 0
	}
}

// parse counts the filters by kind, and says why they verify nothing: a filter that matches
// every key or none does not.
func (s *surveyor) parse() (doubt string) {
	s.ByKind = map[string]int{}
	var malformed []error
	for _, filter := range s.filters.each {
		if len(filter) == 0 { // of no keys
			continue
		}
		kind, err := s.filters.parse(filter)
		s.ByKind[kind]++
		if err != nil {
			malformed = append(malformed, err)
		}
	}
	if len(malformed) > 0 {
		return fmt.Sprintf("%d of %d filters verify nothing; the first: %s", len(malformed),
			len(s.filters.each), malformed[0])
	}
	return ""
}

// filters are those that a table has under one policy's name.
type filters struct {
	each [][]byte // in order; one of no bytes has no keys

	once    bool // a filter got each key once, as in Pebble; LevelDB adds every version
	guessed bool // the name is not known, so they may be none that are read here

	// mayContain reports whether key may have been added to filter. parse returns the name of a
	// filter's kind, such as "bloom", and an error if it matches all keys or none.
	mayContain func(filter, key []byte) bool
	parse      func(filter []byte) (kind string, err error)
}

// rate measures how many keys match a filter that does not have them. It is not 0.
func (f *filters) rate(filter []byte) float64 {
	const tries = 1 << 16
	matches := 1
	for i := range uint64(tries) {
		if f.mayContain(filter, binary.LittleEndian.AppendUint64(nil, (i+1)*0x9e3779b97f4a7c15)) {
			matches++
		}
	}
	return min(1, float64(matches)/tries)
}

// Pebbles is the name of the policy of Pebble's own filters.
const Pebbles = "rocksdb.BuiltinBloomFilter"

// filtersOf returns what is known of the filters under a policy's name. Under any name but Pebble's
// they may be LevelDB's or levelbloom's.
func (f File) filtersOf(name string, pebble bool) *filters {
	known := append([]string{policy.NameLevelDB, policy.NameGoLevelDB}, f.Policies...)
	all := &filters{once: pebble, mayContain: policy.MayContain}
	all.guessed = !slices.Contains(known, name)
	all.parse = func(filter []byte) (string, error) {
		info, err := policy.Parse(filter)
		return info.Kind, err
	}
	if pebble && name == Pebbles { // which any number of bits per key reads
		all.guessed = false
		all.mayContain = func(filter, key []byte) bool {
			return parsePebbles(filter) != nil ||
				bloom.FilterPolicy(0).MayContain(pebblesst.TableFilter, filter, key)
		}
		all.parse = func(filter []byte) (string, error) { return "Pebble's own", parsePebbles(filter) }
	}
	return all
}

// parsePebbles returns an error for a filter under Pebble's name that Pebble does not write. It has
// lines of bits, then the number of probes in a byte, and that of lines in 4. RocksDB, which has
// the same name, marks its newer kinds by a negative number of probes.
func parsePebbles(filter []byte) error {
	const end, maxProbes = 5, 30
	n := len(filter) - end
	if n < 0 {
		return fmt.Errorf("%d bytes, and the shortest filter has %d", len(filter), end)
	}
	lines := binary.LittleEndian.Uint32(filter[n+1:])
	if filter[n] > maxProbes || n > 0 && (lines == 0 || uint32(n)%lines != 0) {
		return fmt.Errorf("%d probes in %d lines of %d bytes are no filter of Pebble's",
			filter[n], lines, n)
	}
	return nil
}
