package sstable_test

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// An outcome is the result of reading a table that was changed. The best outcome comes first.
type outcome int

const (
	// an error says that it is corrupt, or no table, or has no filter of this name
	failed outcome = iota
	sound          // all keys that were written are read, and found
	// a lookup of each entry in the filters shows that they do not know a key of the table
	denied
	silent // a key that was written is missed by a lookup, or not read: this must not be
)

// tolerant is the exact policy for filters that may be damaged.
type tolerant struct{ exact }

func (tolerant) MayContain(filter, key []byte) bool {
	return bytes.Contains(filter, append(appendUint32(nil, len(key)), key...))
}

const changedName = "changed.ldb"

// examine reads the whole table, and returns what has become of the user keys that were written.
func examine(t testing.TB, file []byte, users []string, p testPolicy) outcome {
	table, err := sstable.OpenTable(bytes.NewReader(file), int64(len(file)),
		sstable.WithFileName(changedName))
	if err != nil {
		requireCorrupt(t, err)
		return failed
	}
	filter, filterErr := openFilter(table, p)
	if filterErr != nil && filterErr != errNoFilter {
		requireCorrupt(t, filterErr)
	}
	left := map[string]bool{}
	for _, user := range users {
		left[user] = true
	}
	result, n := sound, 0
	for e, err := range table.Entries() {
		requireFew(t, &n, file)
		if err != nil {
			requireCorrupt(t, err)
			return failed
		}
		delete(left, string(e.Key))
		if filter == nil {
			continue
		}
		filter.MayContain(e.Key) // any answer, but no panic
		if !filter.Windows().MayContain(table.Block(e.Block).Offset, e.Key) {
			result = denied
		}
	}
	switch {
	case filterErr != nil:
		return failed
	case result == denied:
		return denied
	case len(left) > 0:
		return silent
	}
	for _, user := range users {
		if !filter.MayContain([]byte(user)) {
			return silent
		}
	}
	return sound
}

// requireFew counts entries, of which a file cannot have any number: each has 3 bytes at least, and
// snappy decodes 3 bytes to 64 at most.
func requireFew(t testing.TB, n *int, file []byte) {
	if *n++; *n > 22*len(file) {
		t.Fatalf("entries without end in %x", file)
	}
}

// requireCorrupt demands an error that names the file and says what is wrong with it.
func requireCorrupt(t testing.TB, err error) {
	var corrupt *sstable.CorruptionError
	var format *sstable.FormatError
	if errors.As(err, &corrupt) && corrupt.File == changedName && corrupt.Cause != nil ||
		errors.As(err, &format) && format.File == changedName {
		return
	}
	t.Fatalf("%T: %v", err, err)
}

// allocated returns the bytes that were ever allocated.
func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// A victim is a sound table that the tests damage.
type victim struct {
	name  string
	file  []byte
	w     *tableWriter
	users []string
}

// victims are small tables: of internal and plain keys, compressed or not, with many windows, with
// several versions of keys, of one entry, and empty.
func victims(t testing.TB, p testPolicy) (all []victim) {
	const internal, plain = true, false
	add := func(name string, o tableOptions, isInternal bool, stored [][]byte) {
		o.policy, o.internal = p, isInternal
		file, w := writeTable(t, o, stored...)
		var users []string
		for _, key := range stored {
			users = append(users, string(w.user(key)))
		}
		all = append(all, victim{name, file, w, users})
		require.Equal(t, sound, examine(t, file, users, p), name)
	}
	o := tableOptions{blockSize: 120, interval: 3, baseLg: 7, compression: snappied}
	add("internal keys, snappy", o, internal, internalKeys(names(12)...))
	o.compression = raw
	add("plain keys", o, plain, plainKeys(names(12)...))
	o = tableOptions{blockSize: 60, interval: 2, baseLg: 9}
	add("several blocks in a window", o, internal, internalKeys(names(8)...))
	o.baseLg = 5
	add("empty windows", o, plain, plainKeys(names(9)...))
	var versions [][]byte
	for i, user := range []string{"", "a", "ab", "b"} {
		for s := range uint64(4) {
			versions = append(versions, internalKey(user, 300*uint64(i)+260-s, byte(s%2)))
		}
	}
	o.baseLg = 7
	add("versions", o, internal, versions)
	add("one internal key", tableOptions{}, internal, internalKeys("a"))
	add("no key", tableOptions{}, plain, nil)
	return all
}

// A table whose bytes change, or whose ends are cut off, with its old checksums: an error, or
// nothing is lost. With checksums computed anew no reader can know that the bytes are not those
// that were written. Still, if all entries are read, then a lookup of each of them in the filter
// where it is shows whether the filter knows it.
func TestFlips(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 13
	}
	p := tolerant{exact{t}}
	var counts [silent + 1]int
	for _, v := range victims(t, p) {
		// No reader reads the zeros of the footer, and the varint before them may end in one of them.
		zeros := len(v.file) - 48 + len(encodeHandle(v.w.metaindex)) + len(encodeHandle(v.w.indexBlock))
		for i := 0; i < 3*len(v.file); i += step {
			at, flip := i/3, []byte{0x01, 0x80, 0xff}[i%3]
			changed := bytes.Clone(v.file)
			changed[at] ^= flip
			harmless := zeros <= at && at < len(v.file)-8 || at == zeros-1 && flip == 0x80
			result := examine(t, changed, v.users, p)
			if result != failed && !(result == sound && harmless) {
				t.Fatalf("%s: byte %d, flip %#x: no error", v.name, at, flip)
			}
			if v.w.refresh(changed, at) {
				result := examine(t, changed, v.users, p)
				if counts[result]++; result == silent {
					t.Errorf("%s: byte %d, flip %#x: a key is lost, without an error", v.name, at, flip)
				}
			}
			require.Equal(t, failed, examine(t, v.file[:at], v.users, p))
			require.Equal(t, failed, examine(t, v.file[at+1:], v.users, p))
		}
	}
	for _, n := range counts[:silent] {
		require.Positive(t, n, "each outcome happens")
	}
}
