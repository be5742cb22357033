package policy

// ReadEachOther tries whether two policies may share a name: whether each finds 64 keys, of 0 to 63 bytes, in a filter
// that the other makes of them. A reader of another encoding finds each of them only by chance. What a [Counted] counts
// leaves the trial out.
//
// The adapters ask it, because an engine chooses the reader of a filter by the name alone: a policy of another encoding
// would lose keys.
func ReadEachOther(a, b Policy) bool {
	a, b = uncounted(a), uncounted(b)
	return findsAll(a, b) && findsAll(b, a)
}

// uncounted returns the policy that does the work. Only Counted itself is known to change no answer: a type with the same
// Unwrap might, such as one that embeds a Counted.
func uncounted(p Policy) Policy {
	for {
		c, ok := p.(*Counted)
		if !ok {
			return p
		}
		p = c.Unwrap()
	}
}

func findsAll(reader, maker Policy) bool {
	var keys [][]byte
	var key []byte
	builder := maker.NewBuilder()
	for i := range 64 {
		keys = append(keys, key)
		builder.Add(key)
		key = append(key[:i:i], byte(151*i+17)) // all bytes differ, half of them are above 0x7f
	}
	filter := builder.Finish(nil)
	for _, key := range keys {
		if !reader.MayContain(filter, key) {
			return false
		}
	}
	return true
}
