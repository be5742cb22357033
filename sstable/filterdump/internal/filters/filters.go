// Package filters reads the filters that engines store in their tables.
package filters

import (
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
	Parse(filter []byte) (encoding string, info policy.Info, err error)
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

func (levelDB) Parse(filter []byte) (string, policy.Info, error) {
	info, err := policy.Parse(filter)
	return info.Encoding, info, err
}
