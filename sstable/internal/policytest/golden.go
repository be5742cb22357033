package policytest

import (
	"encoding/hex"
	"encoding/json"
)

// HexBytes is a byte string that the golden files have in hexadecimal.
type HexBytes []byte

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *HexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

// A GoldenTable describes a table that C++ LevelDB wrote. testdata/leveldb/README.md explains the
// fields.
type GoldenTable struct {
	File            string        `json:"file"`
	SHA256          string        `json:"sha256"`
	Entries         int           `json:"entries"`
	Deletions       int           `json:"deletions"`
	FilterConsulted bool          `json:"filter_consulted"`
	UserKeys        []HexBytes    `json:"user_keys"`
	Probes          []GoldenProbe `json:"probes"`

	// Only in raw_tablebuilder.
	HasFilter bool       `json:"has_filter"`
	Keys      []HexBytes `json:"keys"`
}

// A GoldenProbe is an absent key with the answer of C++ LevelDB's filter, or the reason why the
// filter was not consulted.
type GoldenProbe struct {
	Key      HexBytes
	MayMatch *bool
	Why      string
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *GoldenProbe) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&p.Key, &p.MayMatch, &p.Why}) // "why" may be missing
}
