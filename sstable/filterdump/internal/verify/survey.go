package scan

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// A Report is what a comparison of all entries of a table with its filters finds out.
type Report struct {
	Entries    int64 `json:"entries"`                // point entries of the table, all versions
	Keys       int64 `json:"keys"`                   // entries with another key than the one before
	Unfiltered int64 `json:"entries_without_filter"` // entries that no filter covers

	WithKeys   int            `json:"filters"`             // filters with keys
	Empty      int            `json:"empty_filters"`       // those without
	BitsPerKey float64        `json:"bits_per_key"`        // of the filters alone
	Encodings  map[string]int `json:"encodings,omitempty"` // filters of each encoding

	// Ribbon is what filters of policy.NewRibbon(10) would be.
	Ribbon Plan `json:"ribbon_10"`

	FalseNegatives int64    `json:"false_negatives"`
	Lost           []string `json:"false_negative_keys,omitempty"` // the first ten, in hex
}

// A Plan is what other filters of the same keys would be.
type Plan struct {
	Bytes float64 `json:"bytes"`
	// FPP is the mean of their false-positive probabilities, weighted by their keys: absent keys
	// fall among present ones.
	FPP float64 `json:"fpp"`
}

// ribbon makes the filters that are planned.
var ribbon, _ = policy.NewRibbon(10)

// A surveyor makes one pass over the entries of a table. Its memory depends neither on their number
// nor on how far apart they lie in the file.
type surveyor struct {
	*Report
	filters  *tables.Filters
	once     bool // a repeated key was added once
	previous []byte

	window int   // index of the filter that covers the last entry, or would
	added  int64 // keys from which this filter was built, or would be
	all    int64 // keys of the filters of all windows that have ended
}

// survey reads all entries of a table and compares them with the filters that cover them. A doubt
// says why not all were compared, or why they may not be what lookups find. False negatives are no
// error, the report counts them. Errors are those of t.Keys; the report is nil then.
func survey(t tables.Table, database bool) (r *Report, doubt string, err error) {
	f := t.Info().Filters
	// LevelDB adds every version of a key to the filter of a window. Pebble adds a key only if it
	// differs from the one before.
	s := &surveyor{Report: &Report{}, filters: f, once: f != nil && f.Layout == "table"}
	err = t.Keys(s.add)
	otherOrder := errors.Is(err, sstable.ErrIndexOrder) && !database
	if err != nil && !otherOrder {
		return nil, "", err
	}
	s.endWindow()
	if s.window > 0 { // each filter of a window takes 4 bytes more for its offset
		s.Ribbon.Bytes += 4 * float64(s.window+1)
	}
	if f != nil {
		doubt = s.parse()
	}
	doubt = cmp.Or(t.Info().Doubt, doubt)
	if otherOrder {
		doubt = "its index is not in bytewise order: it is damaged, or its database has a " +
			"comparer of its own"
	}
	return s.Report, doubt, nil
}

// add takes the next entry, and the index of the filter that covers it, or would.
func (s *surveyor) add(filter int, key []byte) {
	s.Entries++
	isNew := s.Keys == 0 || !bytes.Equal(s.previous, key)
	if isNew {
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
	if f := s.filters; f != nil && f.MayContain != nil && !f.MayContain(f.Each[filter], key) {
		s.FalseNegatives++
		if len(s.Lost) < 10 {
			s.Lost = append(s.Lost, hex.EncodeToString(key))
		}
	}
}

// endWindow plans the filter of a window that has ended.
func (s *surveyor) endWindow() {
	if n := int(s.added); n > 0 {
		s.all += s.added
		s.Ribbon.Bytes += float64(ribbon.FilterSize(n))
		s.Ribbon.FPP += (ribbon.FPP(n) - s.Ribbon.FPP) * float64(n) / float64(s.all)
		s.added = 0
	}
}

// parse counts the filters by encoding, and says why they verify nothing: a filter that matches
// every key or none does not.
func (s *surveyor) parse() (doubt string) {
	s.Encodings = map[string]int{}
	var malformed []error
	for _, filter := range s.filters.Each {
		if len(filter) == 0 {
			s.Empty++
			continue
		}
		s.WithKeys++
		s.BitsPerKey += float64(8 * len(filter))
		if s.filters.Parse == nil {
			continue
		}
		encoding, err := s.filters.Parse(filter)
		s.Encodings[encoding]++
		if err != nil {
			malformed = append(malformed, err)
		}
	}
	s.BitsPerKey /= float64(max(1, s.all))
	switch {
	case s.filters.Parse == nil:
		return fmt.Sprintf("the policy %s is not known here: if it is LevelDB's or "+
			"levelbloom's under another name, pass --policies %[1]s", s.filters.Policy)
	case len(malformed) > 0:
		return fmt.Sprintf("%d of %s verify nothing; the first: %s",
			len(malformed), Count(s.WithKeys, "filter"), malformed[0])
	}
	return ""
}
