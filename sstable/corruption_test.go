package sstable_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
)

// An outcome is the result of reading a table that was changed. The best outcome comes first.
type outcome int

const (
	// an error says that it is corrupt, or no table, or has no filter of this name
	failed outcome = iota
	sound          // all keys that were written are read, and found
	// a lookup of each entry in the filters shows that they do not know a key of the table
	denied
	// keys that were written are not read any more, because they or their block have other bytes
	// now
	lost
	silent // all is read and right, and yet a lookup misses a key: this must not be
)

// tolerant is the exact policy for filters that may be damaged.
type tolerant struct{ exact }

func (tolerant) MayContain(filter, key []byte) bool {
	return bytes.Contains(filter, append(appendUint32(nil, len(key)), key...))
}

const changedName = "changed.ldb"

// examine reads the whole table, and returns what has become of the user keys that were
// written. It demands that this ends, and takes little memory.
func examine(t testing.TB, file []byte, users []string, p policy.Policy,
	opts ...sstable.TableOption) outcome {
	var n uint64
	// A garbage collection adds small allocations to the figure that were made before. It is no
	// fault if it happens once.
	for range 3 {
		before := allocated()
		result := examineAll(t, file, users, p, opts...)
		if n = allocated() - before; n <= uint64(1<<20+64*len(file)) {
			return result
		}
	}
	t.Fatalf("%d bytes were allocated for %d", n, len(file))
	return failed
}

func examineAll(t testing.TB, file []byte, users []string, p policy.Policy,
	opts ...sstable.TableOption) outcome {
	opts = append(opts[:len(opts):len(opts)], sstable.WithFileName(changedName))
	table, err := sstable.OpenTable(bytes.NewReader(file), int64(len(file)), opts...)
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
		if !filter.MayContainAt(table.Block(e.Block).Offset, e.Key) {
			result = denied
		}
	}
	switch {
	case filterErr != nil:
		return failed
	case result == denied:
		return denied
	case len(left) > 0:
		return lost
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
	good := false
	if errors.As(err, &corrupt) {
		good = corrupt.File == changedName && corrupt.Cause != nil && corrupt.Offset >= -1
	} else if errors.As(err, &format) {
		good = format.File == changedName
	}
	if !good || !strings.HasPrefix(err.Error(), changedName+": ") {
		t.Fatalf("%T: %v", err, err)
	}
}

// allocated returns the bytes that were ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// A victim is a sound table that the tests damage.
type victim struct {
	name   string
	file   []byte
	w      *tableWriter
	users  []string
	format sstable.KeyFormat
}

// victims are small tables: of internal and plain keys, compressed in all ways, with many windows,
// with several filters in LevelDB's windows of 2 KiB, with several versions of keys, of one entry,
// and empty.
func victims(t testing.TB, p policy.Policy) (all []victim) {
	add := func(name string, o tableOptions, format sstable.KeyFormat, stored [][]byte) {
		o.policy, o.internal = p, format == sstable.InternalKeys
		file, w := writeTable(t, o, stored...)
		var users []string
		for _, key := range stored {
			users = append(users, string(w.user(key)))
		}
		all = append(all, victim{name, file, w, users, format})
		require.Equal(t, sound, examine(t, file, users, p), name)
		require.Equal(t, sound, examine(t, file, users, p, sstable.WithKeys(format)), name)
	}
	for _, compression := range []byte{raw, snappied} {
		name := fmt.Sprintf(", compression %d", compression)
		add("internal keys"+name, tableOptions{
			blockSize: 120, interval: 3, baseLg: 7, compression: compression,
		}, sstable.InternalKeys, internalKeys(names(12)...))
		add("plain keys"+name, tableOptions{
			blockSize: 120, interval: 16, baseLg: 7, compression: compression,
		}, sstable.PlainKeys, plainKeys(names(12)...))
	}
	o := tableOptions{blockSize: 60, interval: 2, baseLg: 9}
	add("several blocks in a window", o, sstable.InternalKeys, internalKeys(names(14)...))
	o.baseLg = 5
	add("empty windows", o, sstable.PlainKeys, plainKeys(names(9)...))
	var versions [][]byte
	for i, user := range []string{"", "a", "ab", "b"} {
		for s := range uint64(4) {
			versions = append(versions, internalKey(user, 300*uint64(i)+260-s, byte(s%2)))
		}
	}
	o.baseLg = 7
	add("versions", o, sstable.InternalKeys, versions)
	add("one internal key", tableOptions{}, sstable.InternalKeys, internalKeys("a"))
	add("the last key in the index", tableOptions{blockSize: 80, interval: 3, baseLg: 6},
		sstable.InternalKeys, internalKeys("k1", "k2", "k3", "k4", "k5", "k6"))
	add("no key", tableOptions{}, sstable.PlainKeys, nil)
	return all
}

// largeVictim is a table with four of LevelDB's windows.
func largeVictim(t testing.TB, p policy.Policy) victim {
	var file bytes.Buffer
	w := newTableWriter(t, &file, tableOptions{blockSize: 700, interval: 16, policy: p,
		internal: true})
	var users []string
	for i := range 40 {
		users = append(users, fmt.Sprintf("user%04d", i*i))
		w.add(internalKey(users[i], uint64(9000-i), 1), []byte(strings.Repeat("v", 150)))
	}
	w.finish()
	return victim{"windows of 2 KiB", file.Bytes(), w, users, sstable.InternalKeys}
}

// flipStep returns the distance of the bytes that are changed.
func flipStep() int {
	if testing.Short() {
		return 13
	}
	return 1
}

// eachFlip calls f with each byte of the victim changed in some of its bits.
func eachFlip(v victim, f func(at int, flip byte, changed []byte)) {
	for at := 0; at < len(v.file); at += flipStep() {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			changed := bytes.Clone(v.file)
			changed[at] ^= flip
			f(at, flip, changed)
		}
	}
}

// Every flip of a byte and every truncation of a table with its old checksums: an error,
// or nothing is lost.
func TestFlips(t *testing.T) {
	p := policytest.Must(policy.NewBloom(10))
	for _, v := range append(victims(t, p), largeVictim(t, p)) {
		for _, keys := range []sstable.KeyFormat{sstable.AutoKeys, v.format} {
			eachFlip(v, func(at int, flip byte, changed []byte) {
				result := examine(t, changed, v.users, p, sstable.WithKeys(keys))
				// No reader reads the zeros of the footer, and the varint before them may end in one
				// of them.
				handles := len(encodeHandle(v.w.metaindex)) + len(encodeHandle(v.w.indexBlock))
				zeros := len(v.file) - 48 + handles
				harmless := zeros <= at && at < len(v.file)-8 || at == zeros-1 && flip == 0x80
				if result != failed && !(result == sound && harmless) {
					t.Fatalf("%s: byte %d, flip %#x: no error", v.name, at, flip)
				}
			})
			for at := 0; at < len(v.file); at += flipStep() {
				if examine(t, v.file[:at], v.users, p, sstable.WithKeys(keys)) != failed ||
					examine(t, v.file[at+1:], v.users, p, sstable.WithKeys(keys)) != failed {
					t.Fatalf("%s: cut at byte %d: no error", v.name, at)
				}
			}
		}
	}
}

// Every flip, with the checksum of the block computed anew: then no reader can know that the bytes
// are not those that were written. Still, if all entries are read, then a lookup of each of them in
// the filter where it is shows whether the filter knows it.
func TestFlipsWithChecksums(t *testing.T) {
	var counts [silent + 1]int
	for name, p := range map[string]policy.Policy{"exact": tolerant{exact{t}},
		"Bloom":  policytest.Must(policy.NewBloom(10)),
		"ribbon": policytest.Must(policy.NewRibbon(10))} {
		for _, v := range append(victims(t, p), largeVictim(t, p)) {
			for _, keys := range []sstable.KeyFormat{sstable.AutoKeys, v.format} {
				eachFlip(v, func(at int, flip byte, changed []byte) {
					if !v.w.refresh(changed, at) {
						return
					}
					result := examine(t, changed, v.users, p, sstable.WithKeys(keys))
					if counts[result]++; result == silent {
						t.Errorf("%s, %s: byte %d, flip %#x: a lookup misses a key, without "+
							"an error", name, v.name, at, flip)
					}
				})
			}
		}
	}
	t.Logf("%d errors, %d sound, %d denied, %d lost", counts[failed], counts[sound], counts[denied],
		counts[lost])
	for _, n := range counts[:silent] {
		require.Positive(t, n, "each outcome happens")
	}
}
