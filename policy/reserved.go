package policy

// The last byte of a filter is LevelDB's k, up to maxProbes. LevelDB reserved the larger ones for encodings to come, and
// every reader that does not know one of them answers "may contain". These are ours; the package comment has the bytes.
const (
	blockedBloomByte = 0x42
)

// reservedMayContain reads a filter whose last byte is in the reserved range.
func reservedMayContain(filter, key []byte) bool {
	switch filter[len(filter)-1] {
	case blockedBloomByte:
		return (*BlockedBloom)(nil).MayContain(filter, key) // which needs no setting
	case ribbonByte:
		return (*Ribbon)(nil).MayContain(filter, key)
	default:
		return true
	}
}

// reservedMayContainMany does the same for many keys.
func reservedMayContainMany(filter []byte, keys [][]byte, out []bool) {
	switch filter[len(filter)-1] {
	case blockedBloomByte:
		blockedMayContainMany(filter, keys, out)
	default:
		allMayBeThere(out[:len(keys)])
	}
}

func allMayBeThere(out []bool) {
	for i := range out {
		out[i] = true
	}
}
