// Package filters reads the filters that engines store in their tables.
package filters

import (
	"math"
	"slices"

	"github.com/levelbloom/levelbloom/policy"
)

// A Reader reads the filters that are stored under one policy's name. It accepts any bytes and is
// safe for concurrent use.
type Reader interface {
	// MayContain reports whether key may have been added to filter.
	MayContain(filter, key []byte) bool
	// Parse returns the parts of a filter and the name of its encoding, such as "LevelDB Bloom".
	// The error says what is wrong with a filter whose answers do not depend on the key; the name
	// is set nonetheless.
	Parse(filter []byte) (encoding string, info Info, err error)
}

// Info is what the bytes of one filter say.
type Info struct {
	policy.Info
	InLines bool // Payload is divided into lines, and all probes of a key lie in one
}

// FPP is what policy.Info estimates.
//
// It adds up the lines: some have more keys than others, and the mean fill would give too small a
// number. It takes the probes of a key as independent.
func (i Info) FPP() (fpp float64) {
	if !i.InLines {
		_, fpp = i.Info.Estimate()
		return fpp
	}
	const lineBits = 8 * lineBytes
	lines := float64(len(i.Payload) / lineBytes)
	for line := range slices.Chunk(i.Payload, lineBytes) {
		fill := float64(policy.Info{Payload: line}.Ones()) / lineBits
		fpp += math.Pow(fill, float64(i.K)) / lines
	}
	return fpp
}

// ByName returns the reader of the filters that engines store under a policy's name, nil if the
// name is not known here.
func ByName(name string) Reader {
	switch name {
	case policy.Name, policy.NameGoLevelDB:
		return LevelDB
	case BuiltinName:
		return Builtin
	}
	return nil
}

// LevelDB reads all encodings of package policy, which tell themselves apart.
var LevelDB Reader = levelDB{}

type levelDB struct{}

func (levelDB) MayContain(filter, key []byte) bool { return policy.MayContain(filter, key) }

func (levelDB) Parse(filter []byte) (string, Info, error) {
	info, err := policy.Parse(filter)
	return info.Encoding.String(), Info{Info: info}, err
}
