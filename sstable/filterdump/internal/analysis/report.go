package analysis

// A Report is what is known about one table. Rates and parts are fractions. What could not be found
// out is 0.
type Report struct {
	Entries    int64  `json:"entries"`                // point entries of the table, all versions
	Keys       int64  `json:"keys"`                   // entries whose key differs from the last
	Unfiltered int64  `json:"entries_without_filter"` // entries that no filter covers
	KeyShape   string `json:"key_shape,omitempty"`    // the keys' lengths

	Filters       int     `json:"filters"`           // those with keys
	Empty         int     `json:"empty_filters"`     // those without
	Saturated     int     `json:"saturated_filters"` // those whose bits are all set
	Bytes         int64   `json:"filter_bytes"`      // of the filter block
	BitsPerKey    float64 `json:"bits_per_key"`      // of the filters alone
	KeysPerFilter float64 `json:"keys_per_filter"`   // keys that were added, on average
	Probes        []int   `json:"probes,omitempty"`  // k, each that occurs, ascending
	Fill          float64 `json:"fill,omitempty"`    // part of the bits that are set
	// FPP and Distinct are estimates: the mean of the filters that could be parsed, nil if there
	// are none, and the sum of their keys without those of saturated filters.
	FPP      *float64 `json:"fpp_estimated,omitempty"`
	Distinct float64  `json:"distinct_keys_estimated,omitempty"`

	Between        Rate   `json:"fpr_between"` // absent keys between the table's own
	BetweenUnasked string `json:"fpr_between_unasked,omitempty"`

	Verified       bool           `json:"verified"`             // every covered entry was compared
	Unverified     string         `json:"unverified,omitempty"` // why not
	Encodings      map[string]int `json:"encodings,omitempty"`  // filters of each encoding
	Malformed      map[string]int `json:"malformed,omitempty"`  // filters by what is wrong
	FalseNegatives int64          `json:"false_negatives"`
	Lost           []string       `json:"false_negative_keys,omitempty"` // the first ten, in hex
}
