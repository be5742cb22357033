package scan

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// A Report is what a comparison of all entries of a table with its filters finds out.
type Report struct {
	Entries    int64 `json:"entries"`                // point entries of the table, all versions
	Keys       int64 `json:"keys"`                   // entries whose key differs from the one before
	Unfiltered int64 `json:"entries_without_filter"` // entries that no filter covers

	WithKeys   int            `json:"filters"`             // filters with keys
	Empty      int            `json:"empty_filters"`       // those without
	BitsPerKey float64        `json:"bits_per_key"`        // of the filters alone
	Encodings  map[string]int `json:"encodings,omitempty"` // filters of each encoding

	// Ribbon and Small are what filters of policy.NewRibbon(10) and (7) would be.
	Ribbon Plan `json:"ribbon_10"`
	Small  Plan `json:"ribbon_7"`
	// Disordered keys are not in bytewise order.
	Disordered bool `json:"disordered,omitempty"`

	FalseNegatives int64    `json:"false_negatives"`
	Lost           []string `json:"false_negative_keys,omitempty"` // the first ten, in hex
	Unverified     string   `json:"-"`                             // why not all were compared
}

const maxLost = 10 // lost keys in a report

// A Plan is what other filters of the same keys would be.
type Plan struct {
	Bytes float64 `json:"bytes"`
	// FPP is the mean of their false-positive probabilities, weighted by their keys: absent keys
	// fall among present ones.
	FPP float64 `json:"fpp"`
}

// add adds a filter of n keys, after which the filters have all keys.
func (p *Plan) add(r *policy.Policy, n, all int64) {
	p.Bytes += float64(r.FilterSize(int(n)))
	p.FPP += (r.FPP(int(n)) - p.FPP) * float64(n) / float64(all)
}

// The ribbon filters that are planned: those that are recommended, and those that save memory.
var (
	ribbon, _      = policy.NewRibbon(10)
	smallRibbon, _ = policy.NewRibbon(7)
)

// A survey is one pass over the entries of a table. Its memory depends neither on their number nor
// on how far apart they lie in the file, except for the sample.
type survey struct {
	Report
	filters  *tables.Filters
	compared bool // entries with filters
	once     bool // a repeated key was added once
	sample   *Sample
	previous []byte

	window int   // index of the filter that covers the last entry, or would
	added  int64 // keys from which this filter was built, or would be
	all    int64 // keys of the filters of all windows that have ended
}

// verify reads all entries of a table, compares them with the filters that cover them, and offers
// their keys to sample.
//
// Keys that cannot be read leave the table unverified, without entries in the report. Other errors
// are those of t.Keys; the report is nil then. False negatives are no error: the report counts
// them.
func verify(t tables.Table, sample *Sample) (*Report, error) {
	info := t.Info()
	f := info.Filters
	s := &survey{filters: f, sample: sample}
	if f != nil {
		s.compared = f.Reader != nil && info.Unverified == ""
		// LevelDB adds every version of a key to the filter of a window. Pebble adds a key, or the
		// part of it that its comparer's Split returns, only if it differs from the one before.
		s.once = f.Layout == tables.PerTable
	}
	err := t.Keys(func(filter int, key []byte) error {
		s.add(filter, key)
		return nil
	})
	var unsupported *tables.UnsupportedError
	if unread := errors.As(err, &unsupported) && info.Unverified != ""; err != nil && !unread {
		return nil, err
	}
	s.endWindow()
	if s.window > 0 { // each filter of a window takes 4 bytes more for its offset
		s.Ribbon.Bytes += 4 * float64(s.window+1)
		s.Small.Bytes += 4 * float64(s.window+1)
	}
	if f != nil {
		s.parse()
		switch {
		case f.Reader == nil:
			s.Unverified = fmt.Sprintf("the policy %s is not known here: if it is LevelDB's or "+
				"levelbloom's under another name, pass --bloom %[1]s", f.Policy)
		case !s.compared:
			s.Unverified = info.Unverified
		}
	}
	report := s.Report // a pointer into s would keep the filters
	return &report, nil
}

// add takes the next entry, and the index of the filter that covers it, or would.
func (s *survey) add(filter int, key []byte) {
	s.Entries++
	isNew := s.Keys == 0 || !bytes.Equal(s.previous, key)
	if isNew {
		s.Disordered = s.Disordered || bytes.Compare(s.previous, key) > 0
		s.sample.Offer(key)
		s.Keys++
		s.previous = append(s.previous[:0], key...)
	}
	if filter < 0 || s.filters == nil {
		s.Unfiltered++
	}
	if filter < 0 {
		return
	}
	if filter != s.window {
		s.endWindow()
		s.window = filter
	}
	if isNew || !s.once {
		s.added++
	}
	if s.compared && !s.filters.Reader.MayContain(s.filters.Each[filter], key) {
		s.FalseNegatives++
		if len(s.Lost) < maxLost {
			s.Lost = append(s.Lost, hex.EncodeToString(key))
		}
	}
}

// endWindow plans the filters of a window that has ended.
func (s *survey) endWindow() {
	if s.added == 0 {
		return
	}
	s.all += s.added
	s.Ribbon.add(ribbon, s.added, s.all)
	s.Small.add(smallRibbon, s.added, s.all)
	s.added = 0
}

// parse counts the filters by encoding, and says what is wrong with any. A filter that matches
// every key or none verifies nothing.
func (s *survey) parse() {
	s.Encodings = map[string]int{}
	malformed, first, bits := 0, "", 0
	for _, filter := range s.filters.Each {
		if len(filter) == 0 {
			s.Empty++
			continue
		}
		s.WithKeys++
		bits += 8 * len(filter)
		if s.filters.Reader == nil {
			continue
		}
		encoding, err := s.filters.Reader.Parse(filter)
		s.Encodings[encoding]++
		if err != nil {
			malformed++
			first = cmp.Or(first, err.Error())
		}
	}
	if s.all > 0 {
		s.BitsPerKey = float64(bits) / float64(s.all)
	}
	if malformed > 0 {
		s.Unverified = fmt.Sprintf("%d of %s verify nothing; the first: %s",
			malformed, Count(s.WithKeys, "filter"), first)
	}
}
