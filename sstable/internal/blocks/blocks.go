// Package blocks has what readers of LevelDB's blocks and of Pebble's need to know.
package blocks

// SnappyCanHold reports whether a block of compressed bytes can decode to n bytes: a copy of 64
// bytes takes 3.
func SnappyCanHold(compressed, n int) bool {
	const maxRatio = 22
	return n >= 0 && n/maxRatio <= compressed
}
