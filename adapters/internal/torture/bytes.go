package torture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
)

// Forged bytes in a filter, with a valid checksum, cause no panic. Where they cost keys, filterdump
// finds the table.
func testWrongBytes(t *testing.T, target Target) {
	if testing.Short() {
		t.Skip("builds filterdump")
	}
	filterdump := buildFilterdump(t)
	rng := enginetest.Rand(t, enginetest.Seed())
	for _, kind := range enginetest.Kinds {
		p := kind.MustNew(10, recorded)
		const n = 300
		var keys, others [][]byte
		for i := range n {
			keys = append(keys, fmt.Appendf(nil, "key%08d", i))
			others = append(others, fmt.Appendf(nil, "key%08d", n+i))
		}
		cases := forgeries(rng, filterOf(p, keys), filterOf(p, others))
		var tables []string
		var lost []int
		for _, c := range cases {
			path, n := lostWith(t, target, p, keys, c.filter)
			tables, lost = append(tables, path), append(lost, n)
		}
		found := statuses(t, filterdump, tables)
		for i, c := range cases {
			what := fmt.Sprintf("%s, %s: %d keys lost, %s", kind.Name, c.name, lost[i], found[i])
			require.Equal(t, lost[i] > 0, found[i] == "false negative", what)
			switch c.name {
			case "intact":
				require.Equal(t, "sound", found[i], what)
			case "of another table":
				require.Greater(t, lost[i], n*9/10, what)
			}
		}
	}
}

// recorded is the name of the policy, which filterdump is told.
const recorded = "recorded"

func filterOf(p policy.Policy, keys [][]byte) []byte {
	b := p.NewBuilder()
	for _, key := range keys {
		b.Add(key)
	}
	return b.Finish(nil)
}

// forger is a policy that builds the same filter of whatever keys. It reads filters as they are.
type forger struct {
	policy.Policy
	filter []byte
}

func (f *forger) NewBuilder() policy.Builder {
	return forgingBuilder{f.Policy.NewBuilder(), f.filter}
}

type forgingBuilder struct {
	policy.Builder
	filter []byte
}

func (b forgingBuilder) Finish(dst []byte) []byte { return append(dst, b.filter...) }

// lostWith writes a table of keys whose filter is forged. It returns the table's path, and how many
// of the keys the database denies if it reads that filter with p.
func lostWith(
	t testing.TB, target Target, p policy.Policy, keys [][]byte, filter []byte,
) (table string, lost int) {
	dir := newDir(t)
	db, err := target.OnDisk(t, dir, nil).Open(enginetest.Setting{
		Still: true, Large: true, Policies: []policy.Policy{&forger{p, filter}}})
	require.NoError(t, err)
	var changes []enginetest.Change
	for _, key := range keys {
		changes = append(changes, enginetest.Change{Key: key, Value: value(1)})
	}
	require.NoError(t, db.Apply(0, changes))
	require.NoError(t, db.Flush())
	for _, key := range keys {
		found, err := db.Seek(key)
		value, err2 := db.Find(key)
		if err == nil && len(found) == 0 || err2 == nil && value == nil {
			lost++
		}
	}
	require.NoError(t, db.Close())
	tables, err := filepath.Glob(filepath.Join(dir, "db", "*.[ls][ds][bt]"))
	require.NoError(t, err)
	require.Len(t, tables, 1)
	return tables[0], lost
}

// forgery is a filter that is not what the keys' policy built.
type forgery struct {
	name   string
	filter []byte
}

// forgeries returns what becomes of a filter; other is one of other keys.
func forgeries(rng *rand.Rand, original, other []byte) []forgery {
	all := []forgery{
		{"intact", original}, {"of another table", other}, {"shorter", original[:len(original)-8]},
	}
	add := func(name string, change func(filter []byte)) {
		filter := bytes.Clone(original)
		change(filter)
		all = append(all, forgery{name, filter})
	}
	info, err := policy.Parse(original)
	if err != nil {
		panic(err)
	}
	trailer := len(info.Payload)
	add("all bits cleared", func(filter []byte) { clear(filter[:trailer]) })
	add("random bits", func(filter []byte) { rng.Read(filter[:trailer]) })
	add("random bytes", func(filter []byte) { rng.Read(filter) })
	for i := trailer; i < len(original); i++ {
		for range 2 {
			b := byte(rng.Intn(256))
			add(fmt.Sprintf("byte %d of the trailer is %d", i-trailer, b),
				func(filter []byte) { filter[i] = b })
		}
	}
	return all
}

// statuses returns what filterdump says of each table.
func statuses(t testing.TB, filterdump string, paths []string) (all []string) {
	args := append([]string{"--json", "--bloom", recorded}, paths...)
	out, err := exec.Command(filterdump, args...).Output()
	if err != nil { // status 1: a table is faulty
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		require.Equal(t, 1, exit.ExitCode())
	}
	var report struct {
		Tables []struct{ Path, Status string }
	}
	require.NoError(t, json.Unmarshal(out, &report))
	require.Len(t, report.Tables, len(paths))
	for i, table := range report.Tables {
		require.Equal(t, paths[i], table.Path)
		all = append(all, table.Status)
	}
	return all
}
