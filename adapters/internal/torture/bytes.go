package torture

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
)

// Wrong bytes in a filter, under a right checksum, do not make anything panic. They cost keys only
// if they are a sound filter of other keys, and then filterdump finds the table.
func testWrongBytes(t *testing.T, target Target, filterdump string) {
	rng := enginetest.Rand(t, enginetest.Seed())
	total := map[string]int{}
	for i, kind := range enginetest.Kinds {
		dir := newDir(t)
		e := target.OnDisk(t, dir, nil)
		var whole []int // variants whose filters know whole keys, as filterdump can verify them
		for v, variant := range e.Variants() {
			if len(variant.Prefix(make([]byte, 20))) == 20 {
				whole = append(whole, v)
			}
		}
		set := enginetest.Setting{Variant: whole[i%len(whole)], Still: true, Large: true}
		tables, keys := twoTables(t, e, set, kind, filepath.Join(dir, "db"))
		set.Policies = []policy.Policy{kind.MustNew(10, recorded)}

		var paths []string
		var lost []int
		cases := wrongBytes(rng, tables)
		for i, c := range cases {
			name := fmt.Sprintf("%06d%s", i, filepath.Ext(tables[0].path))
			path := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.WriteFile(path, c.table, 0o600))
			paths = append(paths, path)
			require.NoError(t, os.WriteFile(tables[0].path, c.table, 0o600))
			lost = append(lost, lostKeys(t, e, set, keys))
			require.NoError(t, os.WriteFile(tables[0].path, tables[0].file, 0o600))
		}
		found := statuses(t, filterdump, paths)
		// Pebble v1 records no comparer, but a prefix extractor, which filterdump does not know.
		verifiable := found[0] == "sound"
		require.Equal(t, verifiable, found[0] != "unverified", found[0])
		for i, status := range found {
			c := cases[i]
			what := fmt.Sprintf("%s, %s: %d keys lost, %s", kind.Name, c.name, lost[i], status)
			require.Equal(t, lost[i] > 0 && verifiable, status == "false negative", what)
			if !c.mayLose {
				require.Zero(t, lost[i], what)
			}
			if c.mustLose {
				require.Positive(t, lost[i], what)
			}
			total[status]++
		}
	}
	t.Logf("tables: %v", total)
}

// recorded is the name of the policy, which filterdump is told.
const recorded = "recorded"

// twoTables writes two tables of as many keys each, and returns them with all keys.
func twoTables(
	t testing.TB, e enginetest.Engine, set enginetest.Setting, kind enginetest.Kind, dir string,
) (tables []filterTable, keys [][]byte) {
	const n = 300 // keys of a table
	p := kind.MustNew(10, recorded)
	set.Policies = []policy.Policy{p}
	db, err := e.Open(set)
	require.NoError(t, err)
	for range 2 {
		var changes []enginetest.Change
		for range n {
			key := fmt.Appendf(nil, "key%08d", len(keys)*7)
			keys = append(keys, key)
			changes = append(changes, enginetest.Change{Key: key, Value: value(1)})
		}
		require.NoError(t, db.Apply(0, changes))
		require.NoError(t, db.Flush())
	}
	require.NoError(t, db.Close())
	paths, err := filepath.Glob(filepath.Join(dir, "*.[ls][ds][bt]"))
	require.NoError(t, err)
	require.Len(t, paths, 2)
	build, _ := e.New(p)
	for i, path := range paths { // in the order in which they were written
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		filter := build(keys[n*i:][:n])
		at := bytes.Index(file, filter)
		require.Positive(t, at)
		tables = append(tables, filterTable{path, file, at, len(filter)})
	}
	require.Equal(t, tables[0].n, tables[1].n)
	return tables, keys
}

// filterTable is a table with one filter, which is n bytes of the file and begins a block.
type filterTable struct {
	path  string
	file  []byte
	at, n int
}

func (f filterTable) filter() []byte { return f.file[f.at:][:f.n] }

// with returns the file with another filter of the same size.
func (f filterTable) with(filter []byte) []byte {
	_, end := f.block(f.at, f.at+f.n)
	file := bytes.Clone(f.file)
	copy(file[f.at:], filter)
	sign(file, f.at, end)
	return file
}

// shortened returns the file with a filter block that is n bytes shorter.
func (f filterTable) shortened(n int) []byte {
	_, end := f.block(f.at, f.at+f.n)
	handle := func(length int) []byte {
		return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(f.at)), uint64(length))
	}
	before, after := handle(end-f.at), handle(end-n-f.at)
	if len(before) != len(after) {
		panic("a handle of another size")
	}
	entry := end + bytes.Index(f.file[end:], before)
	metaindex, metaindexEnd := f.block(entry, entry+len(before))
	file := bytes.Clone(f.file)
	file[end-n] = 0 // not compressed
	sign(file, f.at, end-n)
	copy(file[entry:], after)
	sign(file, metaindex, metaindexEnd)
	return file
}

// block finds the block that contains file[from:to], by its checksum.
func (f filterTable) block(from, to int) (begin, end int) {
	for begin = from; begin >= 0; begin-- {
		sum := crc32.Checksum(f.file[begin:to], castagnoli)
		for end = to; end+5 <= len(f.file); end++ {
			sum = crc32.Update(sum, castagnoli, f.file[end:end+1])
			if masked(sum) == binary.LittleEndian.Uint32(f.file[end+1:]) {
				return begin, end
			}
		}
	}
	panic("no block")
}

// sign writes the checksum of the block file[begin:end] and of the byte after it.
func sign(file []byte, begin, end int) {
	sum := crc32.Checksum(file[begin:end+1], castagnoli)
	binary.LittleEndian.PutUint32(file[end+1:], masked(sum))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked is how LevelDB stores a checksum.
func masked(sum uint32) uint32 { return (sum>>15 | sum<<17) + 0xa282ead8 }

// wrongTable is a table with wrong bytes in its filter.
type wrongTable struct {
	name              string
	table             []byte
	mayLose, mustLose bool // keys
}

// wrongBytes returns what becomes of the first table.
func wrongBytes(rng *rand.Rand, tables []filterTable) (all []wrongTable) {
	original := tables[0].filter()
	intact, err := policy.Parse(original)
	if err != nil {
		panic(err)
	}
	bloom := intact.Encoding == policy.EncodingBloom
	add := func(name string, change func(filter, payload []byte)) *wrongTable {
		filter := bytes.Clone(original)
		change(filter, filter[:len(intact.Payload)])
		now, err := policy.Parse(filter)
		harmless := err != nil || bloom && now.Encoding == intact.Encoding &&
			now.K <= intact.K && len(now.Payload) == len(intact.Payload)
		for i, b := range intact.Payload {
			harmless = harmless && (err != nil || now.Payload[i]&b == b) // bits are only set
		}
		all = append(all, wrongTable{name, tables[0].with(filter), !harmless, false})
		return &all[len(all)-1]
	}
	add("intact", func(_, _ []byte) {}).mayLose = false
	for i := range 3 {
		at, bits := rng.Intn(len(intact.Payload)), byte(1<<rng.Intn(8))
		add("bit set", func(_, payload []byte) { payload[at] |= bits })
		add("bits cleared", func(_, payload []byte) { clear(payload[at:min(at+i, len(payload))]) })
	}
	add("all bits set", func(_, payload []byte) {
		for i := range payload {
			payload[i] = 0xff
		}
	})
	cleared := add("all bits cleared", func(_, payload []byte) { clear(payload) })
	cleared.mustLose = bloom
	for i := len(intact.Payload); i < len(original); i++ {
		for range 3 {
			b := byte(rng.Intn(256))
			add(fmt.Sprintf("byte %d of the trailer is %d", i-len(intact.Payload), b),
				func(filter, _ []byte) { filter[i] = b })
		}
	}
	add("random bytes", func(filter, _ []byte) { rng.Read(filter) })
	other := add("filter of the other table", func(filter, _ []byte) {
		copy(filter, tables[1].filter())
	})
	other.mustLose = true
	for _, n := range []int{1, 8, 100} {
		all = append(all, wrongTable{fmt.Sprintf("%d bytes shorter", n), tables[0].shortened(n),
			true, false})
	}
	return all
}

// lostKeys returns how many of keys the database denies.
func lostKeys(
	t testing.TB, e enginetest.Engine, set enginetest.Setting, keys [][]byte,
) (lost int) {
	db, err := e.Open(set)
	require.NoError(t, err)
	for _, key := range keys {
		found, err := db.Seek(key)
		value, err2 := db.Find(key)
		if err == nil && len(found) == 0 || err2 == nil && value == nil {
			lost++
		}
	}
	require.NoError(t, db.Close())
	return lost
}

// statuses returns what filterdump says of each table.
func statuses(t testing.TB, filterdump string, paths []string) (all []string) {
	args := append([]string{"-json", "-bloom", recorded}, paths...)
	out, err := exec.Command(filterdump, args...).Output()
	if err != nil { // status 1: a table is faulty
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		require.Equal(t, 1, exit.ExitCode())
	}
	var report struct{ Tables []struct{ Status string } }
	require.NoError(t, json.Unmarshal(out, &report))
	require.Len(t, report.Tables, len(paths))
	for _, table := range report.Tables {
		all = append(all, table.Status)
	}
	return all
}
