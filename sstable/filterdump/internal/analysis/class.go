package analysis

// A class is a set of bytes that may stand at one position of a key.
type class struct {
	name    string      // of one
	members []byte      // ascending
	below   [257]uint16 // below[b] is how many members are less than b
}

// newClass returns the class of the bytes in ranges, which are the first byte and the last one of each.
func newClass(name string, ranges ...string) *class {
	c := &class{name: name}
	for b := range 256 {
		c.below[b] = uint16(len(c.members))
		for _, r := range ranges {
			if r[0] <= byte(b) && byte(b) <= r[1] {
				c.members = append(c.members, byte(b))
			}
		}
	}
	c.below[256] = uint16(len(c.members))
	return c
}

func (c *class) contains(b byte) bool { return c.below[int(b)+1] > c.below[b] }

// classes lists what varying bytes are taken for, from small to large.
var classes = []*class{
	newClass("digit", "09"),
	newClass("lower-case hex digit", "09", "af"),
	newClass("upper-case hex digit", "09", "AF"),
	newClass("lower-case letter", "az"),
	newClass("upper-case letter", "AZ"),
	newClass("letter", "AZ", "az"),
	newClass("alphanumeric character", "09", "AZ", "az"),
	newClass("printable character", " ~"),
	newClass("byte", "\x00\xff"),
}

// constants holds the classes of one byte.
var constants = func() (all [256]*class) {
	for b := range all {
		all[b] = newClass("", string([]byte{byte(b), byte(b)}))
	}
	return all
}()

// classOf returns the smallest class that has all of seen: the byte itself, if there is but one.
func classOf(seen *[256]bool) *class {
	var bytes []byte
	for b, is := range seen {
		if is {
			bytes = append(bytes, byte(b))
		}
	}
	if len(bytes) == 1 {
		return constants[bytes[0]]
	}
	return smallest(bytes)
}

// smallest returns the smallest of classes that has all of these bytes.
func smallest(bytes []byte) *class {
next:
	for _, c := range classes {
		for _, b := range bytes {
			if !c.contains(b) {
				continue next
			}
		}
		return c
	}
	panic("unreachable: the last class has all bytes")
}
