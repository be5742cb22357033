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
	"github.com/levelbloom/levelbloom/policy/policytest"
	"github.com/levelbloom/levelbloom/sstable"
)

// An outcome is what a table that was changed comes to, in the order of how well it ends.
type outcome int

const (
	// an error says that it is corrupt, or no table, or has no filter of this name
	failed outcome = iota
	sound          // all keys that were written are read, and found
	// the filters do not know a key of the table, and who asks them for each entry sees it
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

// examine reads all that a table holds, and tells what has become of the user keys that were
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
	for _, m := range table.Metaindex() {
		n := 0
		for _, err := range table.MetaEntries(m.Handle) {
			requireFew(t, &n, file)
			if err != nil {
				requireCorrupt(t, err)
				if m.Name == "rocksdb.properties" { // others are not made of entries
					return failed
				}
			}
		}
	}
	filter, filterErr := table.Filter(p)
	if filterErr != nil {
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
		if filter != nil && !filter.MayContainAt(table.Block(e.Block).Offset, e.Key) {
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
// zstd makes of 4 bytes no more than 128 KiB.
func requireFew(t testing.TB, n *int, file []byte) {
	if *n++; *n/(128<<10) > len(file) {
		t.Fatalf("entries without end in %x", file)
	}
}

// requireCorrupt demands an error that names the file and says what is wrong with it.
func requireCorrupt(t testing.TB, err error) {
	var corrupt *sstable.CorruptionError
	var format *sstable.FormatError
	good := errors.Is(err, sstable.ErrNoFilter)
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
// with RocksDB's properties, and empty.
func victims(t testing.TB, p policy.Policy) (all []victim) {
	add := func(name string, o tableOptions, format sstable.KeyFormat, stored [][]byte) {
		o.policy, o.internal = p, format == sstable.InternalKeys
		if o.indexKey == nil && o.internal {
			o.indexKey = shortInternalIndexKey
		} else if o.indexKey == nil {
			o.indexKey = shortIndexKey
		}
		file, w := writeTable(t, o, stored...)
		var users []string
		for _, key := range stored {
			if o.internal {
				key = key[:len(key)-8]
			}
			users = append(users, string(key))
		}
		all = append(all, victim{name, file, w, users, format})
		require.Equal(t, sound, examine(t, file, users, p), name)
		require.Equal(t, sound, examine(t, file, users, p, sstable.WithKeys(format)), name)
	}
	for _, compression := range []byte{raw, snappied, zstded} {
		name := fmt.Sprintf(", compression %d", compression)
		add("internal keys"+name, tableOptions{
			blockSize: 120, interval: 3, baseLg: 7, compression: compression,
		}, sstable.InternalKeys, internalKeys(names(12)...))
		add("plain keys"+name, tableOptions{
			blockSize: 120, interval: 16, baseLg: 7, compression: compression,
		}, sstable.PlainKeys, plainKeys(names(12)...))
	}
	add("several blocks in a window", tableOptions{blockSize: 60, interval: 2, baseLg: 9},
		sstable.InternalKeys, internalKeys(names(14)...))
	add("empty windows", tableOptions{blockSize: 100, interval: 2, baseLg: 5}, sstable.PlainKeys,
		plainKeys(names(9)...))
	var versions [][]byte
	for i, user := range []string{"", "a", "ab", "b"} {
		for s := range uint64(4) {
			versions = append(versions, internalKey(user, 300*uint64(i)+260-s, byte(s%2)))
		}
	}
	add("versions", tableOptions{blockSize: 50, interval: 3, baseLg: 7}, sstable.InternalKeys,
		versions)
	add("one internal key", tableOptions{}, sstable.InternalKeys, internalKeys("a"))
	add("one plain key", tableOptions{}, sstable.PlainKeys, plainKeys("a"))
	add("the last key in the index", tableOptions{blockSize: 80, interval: 3, baseLg: 6,
		indexKey: func(last, _ []byte) []byte { return last }},
		sstable.InternalKeys, internalKeys("k1", "k2", "k3", "k4", "k5", "k6"))
	properties := blockWriter{interval: 1}
	properties.add([]byte("rocksdb.num.entries"), []byte{3})
	add("properties", tableOptions{blockSize: 50, baseLg: 6,
		meta: []metaBlock{{"rocksdb.properties", properties.finish()}}},
		sstable.InternalKeys, internalKeys("a", "b", "c"))
	add("no key", tableOptions{}, sstable.PlainKeys, nil)
	return all
}

// largeVictim is a table with four of LevelDB's windows.
func largeVictim(t testing.TB, p policy.Policy) victim {
	var file bytes.Buffer
	w := newTableWriter(t, &file, tableOptions{blockSize: 700, interval: 16, policy: p,
		internal: true, indexKey: shortInternalIndexKey})
	var users []string
	for i := range 40 {
		users = append(users, fmt.Sprintf("user%04d", i*i))
		w.add(internalKey(users[i], uint64(9000-i), 1), []byte(strings.Repeat("v", 150)))
	}
	w.finish()
	return victim{"windows of 2 KiB", file.Bytes(), w, users, sstable.InternalKeys}
}

// Each byte is changed in these bits.
var flips = []byte{0x01, 0x80, 0xff}

// Every flip of a byte and every truncation of a table whose checksums stay as they are: an error,
// or nothing is lost.
func TestFlips(t *testing.T) {
	p := policies()["in turn"]
	for _, v := range append(victims(t, p), largeVictim(t, p)) {
		t.Run(v.name, func(t *testing.T) {
			var counts [silent + 1]int
			for _, opts := range [][]sstable.TableOption{nil, {sstable.WithKeys(v.format)}} {
				for at := range v.file {
					for _, flip := range flips {
						v.file[at] ^= flip
						result := examine(t, v.file, v.users, p, opts...)
						v.file[at] ^= flip
						if result > sound {
							t.Fatalf("byte %d, flip %#x: a key was lost, and no error says so", at,
								flip)
						}
						counts[result]++
					}
					if examine(t, v.file[:at], v.users, p, opts...) != failed ||
						examine(t, v.file[at+1:], v.users, p, opts...) != failed {
						t.Fatalf("cut at byte %d: no error", at)
					}
				}
			}
			t.Logf("%d bytes: %d errors, %d sound", len(v.file), counts[failed], counts[sound])
			// The zeros of the footer alone are read by nobody; and the varint before them may end
			// in one of them.
			padding := 40 - len(encodeHandle(v.w.metaindex)) - len(encodeHandle(v.w.indexBlock))
			require.Equal(t, 2*(len(flips)*padding+1), counts[sound])
		})
	}
}

// Every flip, with the checksum of the block computed anew: then no reader can know that the bytes
// are not those that were written. Still, if all entries are read, then asking the filter for each
// of them where it is shows whether it knows it.
func TestFlipsWithChecksums(t *testing.T) {
	var total [silent + 1]int
	for name, p := range map[string]policy.Policy{"exact": tolerant{exact{t}},
		"Bloom":  policytest.Must(policy.NewBloom(10)),
		"ribbon": policytest.Must(policy.NewRibbon(10))} {
		all := append(victims(t, p), largeVictim(t, p))
		for _, v := range all {
			t.Run(name+", "+v.name, func(t *testing.T) {
				var counts [silent + 1]int
				for _, opts := range [][]sstable.TableOption{nil, {sstable.WithKeys(v.format)}} {
					for at := range v.file {
						for _, flip := range flips {
							changed := bytes.Clone(v.file)
							changed[at] ^= flip
							if !v.w.refresh(changed, at) {
								continue
							}
							result := examine(t, changed, v.users, p, opts...)
							if result == silent {
								t.Errorf("byte %d, flip %#x: a lookup misses a key, and nothing "+
									"tells", at, flip)
							}
							counts[result]++
							total[result]++
						}
					}
				}
				t.Logf("%d bytes: %d errors, %d sound, %d denied, %d lost", len(v.file),
					counts[failed], counts[sound], counts[denied], counts[lost])
			})
		}
	}
	t.Logf("%d errors, %d sound, %d denied, %d lost", total[failed], total[sound], total[denied],
		total[lost])
	for _, n := range total[:silent] {
		require.Positive(t, n, "each outcome happens")
	}
}
