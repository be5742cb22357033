// Package kind tells filters of this module apart, by their bytes. A policy may write filters of several kinds, and their kind
// says what may be expected of them.
package kind

import "fmt"

// A Kind is what a filter is. Filters of equal kinds are read in the same way.
type Kind struct {
	Encoding Encoding
	Width    int // bits of a fingerprint in a binary fuse filter; otherwise 0
}

// An Encoding is a way to write filters, under the name that the benchmark's flags have for it.
type Encoding string

const (
	Exact   Encoding = "exact" // LevelDB's
	Blocked Encoding = "blocked"
	Fuse    Encoding = "fuse"
	Unknown Encoding = "unknown" // to this package
)

// The ends of filters, from package policy's description.
const (
	mostProbes  = 30 // LevelDB's last byte
	version     = 1
	blockedByte = 0x42
	fuseByte    = 0x46
	fuseTrailer = 16
)

// Of returns the kind of a filter.
func Of(filter []byte) Kind {
	n := len(filter)
	switch {
	case n < 2 || filter[n-1] <= mostProbes:
		return Kind{Encoding: Exact}
	case filter[n-2] != version:
		return Kind{Encoding: Unknown}
	case filter[n-1] == blockedByte:
		return Kind{Encoding: Blocked}
	case filter[n-1] == fuseByte && n >= fuseTrailer:
		return Kind{Fuse, int(filter[n-3])}
	}
	return Kind{Encoding: Unknown}
}

func (k Kind) String() string {
	if k.Encoding == Fuse {
		return fmt.Sprintf("%s %d", k.Encoding, k.Width)
	}
	return string(k.Encoding)
}
