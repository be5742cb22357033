package analysis

import (
	"bytes"
	"slices"
)

// A class is the bytes that may stand at one position of a key, ascending.
type class []byte

// below returns how many members are less than b, and whether b is a member.
func (c class) below(b byte) (int, bool) { return slices.BinarySearch(c, b) }

// newClass returns the class of the bytes in ranges: the first byte and the last one of each.
func newClass(ranges ...string) (c class) {
	for b := range 256 {
		for _, r := range ranges {
			if r[0] <= byte(b) && byte(b) <= r[1] {
				c = append(c, byte(b))
			}
		}
	}
	return c
}

// classes are what varying bytes are taken for: digits, hex digits, letters, printable bytes, all.
var classes = []class{
	newClass("09"), newClass("09", "af"), newClass("09", "AF"), newClass("az"), newClass("AZ"),
	newClass("09", "AZ", "az"), newClass(" ~"), newClass("\x00\xff"),
}

// classOf returns the smallest class that has all of members, which ascend: a single one for
// itself.
func classOf(members []byte) class {
	if len(members) == 1 {
		return members
	}
	return smallest(members)
}

// smallest returns the smallest of classes that has all of members.
func smallest(members []byte) class {
	i := slices.IndexFunc(classes, func(c class) bool {
		return !slices.ContainsFunc(members, func(b byte) bool { return bytes.IndexByte(c, b) < 0 })
	})
	return classes[i] // the last one has all bytes
}
