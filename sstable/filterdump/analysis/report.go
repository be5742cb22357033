// Package analysis finds out what the filters of a table are worth: it looks at their bits, compares them with the table's
// keys, and asks them for absent keys that it makes of these.
package analysis

// A Report is what is known about one table. Its JSON names are stable. Rates and parts are fractions, not per cent; what
// could not be found out is 0, or left out where the field says so.
type Report struct {
	Entries    int64  `json:"entries"`                // point entries of the table, all versions
	Keys       int64  `json:"keys"`                   // of them, those whose key differs from the entry's before
	Unfiltered int64  `json:"entries_without_filter"` // entries that no filter covers
	KeyShape   string `json:"key_shape,omitempty"`    // of the most frequent length: `16 bytes: "0000000000", 6 digits`

	Filters       int     `json:"filters"`                 // those with keys
	Empty         int     `json:"empty_filters"`           // those without
	Unmeasured    int     `json:"filters_without_bits"`    // of those with keys: their bytes tell nothing (k = 0, unknown encoding)
	Saturated     int     `json:"saturated_filters"`       // of those with keys: all bits are set
	Bytes         int64   `json:"filter_bytes"`            // of the filter block, offsets and all
	BitsPerKey    float64 `json:"bits_per_key"`            // bits of the filters alone, for each entry that they cover
	KeysPerFilter float64 `json:"keys_per_filter"`         // entries that filters cover, for each filter with keys
	Probes        []int   `json:"probes,omitempty"`        // k, each that occurs, ascending
	Fill          float64 `json:"fill"`                    // bits set / bits
	Distinct      float64 `json:"distinct_keys_estimated"` // from the bits that are set; filters left out that are saturated, or have cells
	FPP           float64 `json:"fpp_estimated"`           // from the bits that are set, or known with cells: mean over the filters with keys

	// Of the binary fuse filters, which have cells and no bits that keys set.
	Cells           int64 `json:"cells,omitempty"`
	FingerprintBits []int `json:"fingerprint_bits,omitempty"` // each number that occurs, ascending
	Fuse            *Fuse `json:"binary_fuse,omitempty"`      // if the table has no other filter than one of these

	Between           Rate    `json:"fpr_between"`                      // of absent keys between the table's own (between.go says which)
	BetweenUnasked    string  `json:"fpr_between_unasked,omitempty"`    // why there are none
	Beyond            Rate    `json:"fpr_beyond"`                       // of absent keys of the same shape beyond them
	BeyondUnasked     string  `json:"fpr_beyond_unasked,omitempty"`     // why there are none
	Random            Rate    `json:"fpr_random"`                       // of random bytes
	BetweenCollisions *int64  `json:"fpr_between_collisions,omitempty"` // of Between.Passed: with the hash of a key of the same filter
	Others            []Other `json:"other_settings,omitempty"`         // what other settings would do

	Verified       bool           `json:"verified"`                      // every entry that a filter covers was compared with it
	Unverified     string         `json:"unverified,omitempty"`          // why not; empty without filters
	Encoding       string         `json:"encoding,omitempty"`            // of the filters, for people
	Encodings      map[string]int `json:"encodings,omitempty"`           // how many filters with keys are of which: "LevelDB Bloom"
	FalseNegatives int64          `json:"false_negatives"`               // entries whose filter does not match them
	Lost           []string       `json:"false_negative_keys,omitempty"` // the keys of the first ten, in hex

	Advice []string `json:"advice,omitempty"` // sentences
}

// Fuse is how a binary fuse filter is laid out, besides the number of its cells and their bits.
type Fuse struct {
	SegmentCells int64  `json:"cells_per_segment"`
	Seed         string `json:"seed"` // in hex
}

// An Other is a setting that the table's filters do not have, tried on the table's own keys: filters made with it were asked
// for some of the absent keys.
type Other struct {
	Encoding   string  `json:"encoding"`
	BitsPerKey float64 `json:"bits_per_key"`
	BaseLg     int     `json:"base_lg,omitempty"` // left out: one filter for the whole table
	Between    Rate    `json:"fpr_between"`
	Random     Rate    `json:"fpr_random"`
}
