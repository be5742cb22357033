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

// Forged bytes in a filter, with a valid checksum, cause no panic. They cost keys only if they are
// a sound filter of other keys, and then filterdump finds the table.
func testWrongBytes(t *testing.T, target Target) {
	if testing.Short() {
		t.Skip("builds filterdump")
	}
	filterdump := buildFilterdump(t)
	rng := enginetest.Rand(t, enginetest.Seed())
	total := map[string]int{}
	for _, kind := range enginetest.Kinds {
		p := kind.MustNew(10, recorded)
		const n = 300
		var keys, others [][]byte
		for i := range n {
			keys = append(keys, fmt.Appendf(nil, "key%08d", i*7))
			others = append(others, fmt.Appendf(nil, "key%08d", (n+i)*7))
		}
		cases := forgeries(rng, filterOf(p, keys), filterOf(p, others))
		var tables []string
		var lost []int
		for _, c := range cases {
			path, n := lostWith(t, target, rng, p, keys, c.filter)
			tables, lost = append(tables, path), append(lost, n)
		}
		found := statuses(t, filterdump, tables)
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

func filterOf(p policy.Policy, keys [][]byte) []byte {
	b := p.NewBuilder()
	for _, key := range keys {
		b.Add(key)
	}
	return b.Finish(nil)
}

// forger is a policy that builds the same filter of whatever keys.
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
	t testing.TB, target Target, rng *rand.Rand, p policy.Policy, keys [][]byte, filter []byte,
) (table string, lost int) {
	dir := newDir(t)
	e := target.OnDisk(t, dir, nil)
	var whole []int // variants whose filters know whole keys, as filterdump can verify them
	for v, variant := range e.Variants() {
		if len(variant.Prefix(keys[0])) == len(keys[0]) {
			whole = append(whole, v)
		}
	}
	set := enginetest.Setting{Variant: whole[rng.Intn(len(whole))], Still: true, Large: true,
		Policies: []policy.Policy{&forger{p, filter}}}
	db, err := e.Open(set)
	require.NoError(t, err)
	var changes []enginetest.Change
	for _, key := range keys {
		changes = append(changes, enginetest.Change{Key: key, Value: value(1)})
	}
	require.NoError(t, db.Apply(0, changes))
	require.NoError(t, db.Flush())
	require.NoError(t, db.Close())

	set.Policies = []policy.Policy{p}
	db, err = e.Open(set)
	require.NoError(t, err)
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
	name              string
	filter            []byte
	mayLose, mustLose bool // keys
}

// forgeries returns what becomes of a filter; other is one of other keys.
func forgeries(rng *rand.Rand, original, other []byte) (all []forgery) {
	intact, err := policy.Parse(original)
	if err != nil {
		panic(err)
	}
	bloom := intact.Encoding == policy.EncodingBloom
	add := func(name string, change func(filter, payload []byte)) *forgery {
		filter := bytes.Clone(original)
		change(filter, filter[:len(intact.Payload)])
		now, err := policy.Parse(filter)
		harmless := err != nil || bloom && now.Encoding == intact.Encoding &&
			now.K <= intact.K && len(now.Payload) == len(intact.Payload)
		for i, b := range intact.Payload {
			harmless = harmless && (err != nil || now.Payload[i]&b == b) // bits are only set
		}
		all = append(all, forgery{name, filter, !harmless, false})
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
	add("all bits cleared", func(_, payload []byte) { clear(payload) }).mustLose = bloom
	for i := len(intact.Payload); i < len(original); i++ {
		for range 3 {
			b := byte(rng.Intn(256))
			add(fmt.Sprintf("byte %d of the trailer is %d", i-len(intact.Payload), b),
				func(filter, _ []byte) { filter[i] = b })
		}
	}
	add("random bytes", func(filter, _ []byte) { rng.Read(filter) })
	for _, n := range []int{1, 8, 100} {
		all = append(all, forgery{fmt.Sprintf("%d bytes shorter", n), original[:len(original)-n],
			true, false})
	}
	return append(all, forgery{"filter of another table", other, true, true})
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
