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
	BitsPerKey  float64 `json:"bits_per_key"` // of the filters alone

	// FPP is estimated from the filters, and Between is the FPR of absent keys between the tables'
	// own. They are the means of those tables where it was measured, weighted by their keys; Asked
	// and Passed are sums.
	FPP     float64 `json:"fpp_estimated"`
	Between Rate    `json:"fpr_between"`

	bits, filtered float64 // of the filters; keys that they have
	weights        float64 // keys of the tables where it was measured
	fpps, rates    float64 // sums over these, weighted
	variance       float64 // sum of weights squared, each divided by the keys asked
}

// Add adds a table, whose report may be nil.
func (t *Totals) Add(info *tables.Info, r *Report) {
	if t.Policies == nil {
		t.Policies, t.Encodings = map[string]int{}, map[string]int{}
	}
	t.Size += info.Size
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
	if r.Between.Asked == 0 || r.FPP == nil {
		return
	}
	weight := float64(r.Keys)
	t.weights += weight
	t.fpps += weight * *r.FPP
	t.rates += weight * r.Between.Rate
	t.variance += weight * weight / float64(r.Between.Asked)
	t.FPP = t.fpps / t.weights
	asked, passed := t.Between.Asked+r.Between.Asked, t.Between.Passed+r.Between.Passed
	// As many keys asked of one table would give the mean the same variance.
	t.Between = wilson(t.rates/t.weights, t.weights*t.weights/t.variance)
	t.Between.Asked, t.Between.Passed = asked, passed
}
