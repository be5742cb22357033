package goleveldb_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
)

const goldenTables = "../../testdata/leveldb/tables"

// golden describes one directory that C++ LevelDB wrote. The README beside it explains the fields.
type golden struct {
	DB         string        `json:"db"`
	LiveCount  int           `json:"live_count"`
	LiveSHA256 string        `json:"live_sha256"`
	Tables     []goldenTable `json:"tables"`
}

type goldenTable struct {
	File            string        `json:"file"`
	SHA256          string        `json:"sha256"`
	FilterConsulted bool          `json:"filter_consulted"`
	UserKeys        []hexBytes    `json:"user_keys"`
	Probes          []goldenProbe `json:"probes"`

	// Only in raw_tablebuilder.
	HasFilter bool       `json:"has_filter"`
	Keys      []hexBytes `json:"keys"`
}

// hexBytes is a byte string that the golden files have in hexadecimal.
type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

// goldenProbe is an absent key with the answer of C++ LevelDB's filter, or the reason why the filter
// was not consulted.
type goldenProbe struct {
	Key      hexBytes
	MayMatch *bool
	Why      string
}

func (p *goldenProbe) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&p.Key, &p.MayMatch, &p.Why}) // "why" may be missing
}

// With our policy, goleveldb finds every key of C++ LevelDB's tables, and its filters answer every
// recorded lookup as C++ LevelDB's did. In a database of several tables a lookup may ask several
// filters, so each table is read by itself.
func TestGoldenTables(t *testing.T) {
	answered, live := 0, 0
	sidecars, err := filepath.Glob(filepath.Join(goldenTables, "*.json"))
	require.NoError(t, err)
	for _, sidecar := range sidecars {
		data, err := os.ReadFile(sidecar)
		require.NoError(t, err)
		var g golden
		require.NoError(t, json.Unmarshal(data, &g))
		t.Run(g.DB, func(t *testing.T) {
			for _, tab := range g.Tables {
				answered += readGoldenTable(t, g, tab)
			}
			// goleveldb may not read C++ LevelDB's log to the end, and that of multi_level has
			// entries.
			if g.DB != "raw_tablebuilder" && g.DB != "multi_level" {
				readGoldenDatabase(t, g)
				live++
			}
		})
	}
	require.GreaterOrEqual(t, live, 12)
	require.GreaterOrEqual(t, answered, 29_726,
		"as many as the directories had when they were recorded")
}

// readGoldenTable reads a table through its filter, and returns how many answers it compared.
func readGoldenTable(t *testing.T, g golden, tab goldenTable) (answered int) {
	data, err := os.ReadFile(filepath.Join(goldenTables, g.DB, tab.File))
	require.NoError(t, err)
	sum := sha256.Sum256(data)
	require.Equal(t, tab.SHA256, hex.EncodeToString(sum[:]), tab.File)

	q := &enginetest.Spy{Policy: bloom(t, 10)}
	o, keys := goleveldb.TableOptions(&opt.Options{Filter: goleveldb.New(q)}), tab.UserKeys
	search := goleveldb.SearchKey
	if g.DB == "raw_tablebuilder" { // its tables have plain keys
		o, keys = &opt.Options{Filter: goleveldb.New(q)}, tab.Keys
		search = func(key []byte) []byte { return key }
	}
	r := openTable(t, data, o)
	defer r.Release()
	for _, key := range keys {
		found, _, err := r.Find(search(key), true, nil)
		require.NoError(t, err, "%s, key %x", tab.File, []byte(key))
		require.Equal(t, string(key), string(found[:len(found)-len(search(nil))]))
	}
	asked := 0
	if tab.FilterConsulted || tab.HasFilter {
		asked = len(keys)
	}
	require.EqualValues(t, asked, q.Asked.Load())
	require.Zero(t, q.Absent.Load())

	for _, probe := range tab.Probes {
		if probe.Why == "out_of_range" {
			continue // a table's reader does not know the range
		}
		var answer *bool // nil if the filter is not consulted
		q.Saw = func(_ []byte, mayContain bool) { answer = &mayContain }
		found, _, err := r.Find(search(probe.Key), true, nil)
		if err == nil { // the next key
			require.NotEqual(t, []byte(probe.Key), userKey(found))
		} else {
			require.ErrorIs(t, err, table.ErrNotFound)
		}
		require.Equal(t, probe.MayMatch, answer, "%s, absent key %x %s",
			tab.File, []byte(probe.Key), probe.Why)
		if answer != nil {
			answered++
		}
	}
	return answered
}

// readGoldenDatabase compares the content of a database with the recorded one: by an iterator, and
// key by key through the filters. Filters under another name are read by a policy of that name.
func readGoldenDatabase(t *testing.T, g golden) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(goldenTables, g.DB))))
	q := &enginetest.Spy{Policy: bloom(t, 10)}
	custom := g.DB == "custom_policy"
	if custom {
		q.Policy = bloom(t, 10, policy.WithName("golden.CustomFilter"))
	}
	db := openReadOnly(t, dir, q)
	live := contentOf(t, db)
	require.Len(t, live, g.LiveCount)
	require.Zero(t, live.lost(t, db))
	digest := sha256.New()
	for _, key := range live.keys() {
		for _, s := range []string{string(key), live[string(key)]} {
			digest.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(s))))
			digest.Write([]byte(s))
		}
	}
	require.Equal(t, g.LiveSHA256, hex.EncodeToString(digest.Sum(nil)))
	if custom {
		require.EqualValues(t, len(live), q.Asked.Load())
		for _, probe := range g.Tables[0].Probes {
			requireAbsent(t, db, [][]byte{probe.Key})
		}
		require.Greater(t, q.Absent.Load(), int64(1000))
	}
}
