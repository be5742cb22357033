package engine

// add counts one filter of a Pebble table.
func (l *Level) add(filterBytes, keys uint64) {
	squares := l.KeysPerFilter*float64(l.Keys) + float64(keys)*float64(keys)
	l.Filters++
	l.FilterBytes += int64(filterBytes)
	l.Keys += int64(keys)
	l.KeysPerFilter = squares / float64(l.Keys)
}
