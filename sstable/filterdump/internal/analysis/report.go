package analysis

// A Report is what is known about one table. Rates and parts are fractions. What could not be found
// out is 0.
type Report struct {
	Entries    int64 `json:"entries"`                // point entries of the table, all versions
	Keys       int64 `json:"keys"`                   // entries whose key differs from the last
	Unfiltered int64 `json:"entries_without_filter"` // entries that no filter covers

	WithKeys      int     `json:"filters"`         // filters with keys
	Empty         int     `json:"empty_filters"`   // those without
	BitsPerKey    float64 `json:"bits_per_key"`    // of the filters alone
	KeysPerFilter float64 `json:"keys_per_filter"` // keys that were added, on average

	// Ribbon and Small are what filters of policy.NewRibbon(10) and (7) would be.
	Ribbon Plan `json:"ribbon_10"`
	Small  Plan `json:"ribbon_7"`
	// Disordered keys are not in bytewise order.
	Disordered bool `json:"disordered,omitempty"`

	Verified       bool           `json:"verified"`             // every covered entry was compared
	Unverified     string         `json:"unverified,omitempty"` // why not
	Encodings      map[string]int `json:"encodings,omitempty"`  // filters of each encoding
	FalseNegatives int64          `json:"false_negatives"`
	Lost           []string       `json:"false_negative_keys,omitempty"` // the first ten, in hex
}
