package analysis

import "github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"

// Totals add up the reports of several tables. The zero value has none.
type Totals struct {
	Policies  map[string]int `json:"policies,omitempty"`  // tables with filters of each name
	Encodings map[string]int `json:"encodings,omitempty"` // filters of each encoding

	Size        int64   `json:"size"` // of the tables in bytes
	Entries     int64   `json:"entries"`
	Keys        int64   `json:"keys"`
	FilterBytes int64   `json:"filter_bytes"`
	IndexBytes  int64   `json:"index_bytes"`
	BitsPerKey  float64 `json:"bits_per_key"` // of the filters alone

	bits, filtered float64 // of the filters; keys that they have
}

// Add adds a table, whose report may be nil.
func (t *Totals) Add(info *tables.Info, r *Report) {
	if t.Policies == nil {
		t.Policies, t.Encodings = map[string]int{}, map[string]int{}
	}
	t.Size += info.Size
	t.IndexBytes += info.IndexBytes
	if info.Filters != nil {
		t.Policies[info.Policy]++
		t.FilterBytes += info.Bytes
	}
	if r == nil {
		return
	}
	for encoding, n := range r.Encodings {
		t.Encodings[encoding] += n
	}
	t.Entries += r.Entries
	t.Keys += r.Keys
	filtered := r.KeysPerFilter * float64(r.WithKeys)
	t.bits += r.BitsPerKey * filtered
	t.filtered += filtered
	t.BitsPerKey = ratio(t.bits, t.filtered)
}
