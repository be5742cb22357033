//go:build !amd64 || purego

package policy

// useLanes says that there is assembly. What follows is never called.
const useLanes = false

func setLanes(array *byte, bytes, reciprocal uint32, hashes *uint32, groups, k int) {
	panic("policy: no assembly")
}

func testLanes(array *byte, bytes, reciprocal uint32, hashes, places *uint32, n, from, to int) (passed int) {
	panic("policy: no assembly")
}

func hashKeyRows(hashes *[lanes]uint32, rows *keyRows) { panic("policy: no assembly") }

func hashLanes(hashes *uint32, keys *[]byte, groups int) (all bool) { panic("policy: no assembly") }
