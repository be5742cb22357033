package policy

// hashGroup is how many keys are hashed before their hashes are used: enough that the fixed cost of
// a group does not count, and few enough for the stack. An index fits a byte; see testStaged.
const hashGroup = 128

// bloomMayContainMany reads a filter of LevelDB's encoding for many keys.
// REQUIRES: k >= 5, len(out) == len(keys).
func bloomMayContainMany(filter []byte, keys [][]byte, out []bool) {
	array, k := newBitArray(filter), int(filter[len(filter)-1])
	var hashes [hashGroup]uint32
	for mostlyFound := false; len(keys) > 0; {
		n := min(len(keys), len(hashes))
		hashKeys(hashes[:n], keys[:n])
		found := testProbes(array, &hashes, n, k, mostlyFound, out)
		mostlyFound = found > n/2
		keys, out = keys[n:], out[n:]
	}
}
