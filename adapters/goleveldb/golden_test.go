package goleveldb_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

const goldenTables = "../../testdata/leveldb/tables"

// golden describes one directory that C++ LevelDB wrote. The README beside it explains the fields.
type golden struct {
	DB         string                   `json:"db"`
	LiveCount  int                      `json:"live_count"`
	LiveSHA256 string                   `json:"live_sha256"`
	Tables     []policytest.GoldenTable `json:"tables"`
}

// answers returns the number of probes with an answer.
func answers(t policytest.GoldenTable) (n int64) {
	for _, p := range t.Probes {
		if p.MayMatch != nil {
			n++
		}
	}
	return n
}

func readGolden(t *testing.T) (all []golden) {
	names, err := filepath.Glob(filepath.Join(goldenTables, "*.json"))
	require.NoError(t, err)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		var g golden
		require.NoError(t, json.Unmarshal(data, &g), name)
		for _, tab := range g.Tables {
			sum := sha256.Sum256(readGoldenTable(t, g, tab))
			require.Equal(t, tab.SHA256, hex.EncodeToString(sum[:]), "%s/%s", g.DB, tab.File)
		}
		all = append(all, g)
	}
	require.GreaterOrEqual(t, len(all), 14)
	return all
}

func readGoldenTable(t *testing.T, g golden, tab policytest.GoldenTable) []byte {
	data, err := os.ReadFile(filepath.Join(goldenTables, g.DB, tab.File))
	require.NoError(t, err)
	return data
}

// openGolden opens a copy of a database directory that C++ LevelDB wrote.
func openGolden(t *testing.T, g golden, p policy.Policy) *leveldb.DB {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(goldenTables, g.DB))))
	return openReadOnly(t, dir, p)
}

// question is a spy that keeps the last answer.
type question struct {
	spy
	answer *bool // nil if it was not asked
}

func newQuestion(p policy.Policy) *question {
	q := &question{spy: spy{Policy: p}}
	q.saw = func(_, _ []byte, answer bool) { q.answer = &answer }
	return q
}

// With our policy, goleveldb's filters answer every recorded lookup as C++ LevelDB's did.
func TestGoldenDatabases(t *testing.T) {
	databases, compared := 0, int64(0)
	for _, g := range readGolden(t) {
		if g.DB == "raw_tablebuilder" || len(g.Tables) > 1 {
			continue // TestGoldenTables reads them
		}
		databases++
		tab := g.Tables[0]
		t.Run(g.DB, func(t *testing.T) {
			q := newQuestion(bloom(t, 10))
			db := openGolden(t, g, q)
			defer db.Close()
			for _, p := range tab.Probes {
				q.answer = nil
				_, err := db.Get(p.Key, nil)
				require.ErrorIs(t, err, leveldb.ErrNotFound)
				require.Equal(t, p.MayMatch, q.answer, "absent key %x %s", []byte(p.Key), p.Why)
			}
			require.Equal(t, answers(tab), q.asked.Load())
			compared += q.asked.Load()

			q.asked.Store(0)
			for _, key := range tab.UserKeys {
				q.answer = nil
				_, err := db.Get(key, nil)
				if err != leveldb.ErrNotFound { // deleted
					require.NoError(t, err)
				}
				if tab.FilterConsulted {
					require.NotNil(t, q.answer)
					require.True(t, *q.answer, "key %x", []byte(key))
				}
			}
			if tab.FilterConsulted {
				require.EqualValues(t, len(tab.UserKeys), q.asked.Load())
			} else {
				require.Zero(t, q.asked.Load())
			}
			requireLive(t, g, db)
		})
	}
	require.GreaterOrEqual(t, databases, 10)
	require.GreaterOrEqual(t, compared, int64(13_043),
		"as many as the directories had when they were recorded")
}

// requireLive compares the content of a database with the recorded one: by an iterator, and key by
// key through the filters.
func requireLive(t *testing.T, g golden, db *leveldb.DB) {
	digest := sha256.New()
	live := entries{}
	it := db.NewIterator(nil, nil)
	defer it.Release()
	for it.Next() {
		for _, b := range [][]byte{it.Key(), it.Value()} {
			digest.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(b))))
			digest.Write(b)
		}
		live[string(it.Key())] = string(it.Value())
	}
	require.NoError(t, it.Error())
	require.Len(t, live, g.LiveCount)
	require.Equal(t, g.LiveSHA256, hex.EncodeToString(digest.Sum(nil)))
	require.Zero(t, live.lost(t, db))
}

// In a database of several tables a lookup may ask several filters, so each table is read by
// itself. The content is read through the database, unless its log has entries: goleveldb may not
// read C++ LevelDB's log to the end.
func TestGoldenTables(t *testing.T) {
	tables, compared := 0, int64(0)
	for _, g := range readGolden(t) {
		if g.DB == "raw_tablebuilder" {
			continue
		}
		t.Run(g.DB, func(t *testing.T) {
			for _, tab := range g.Tables {
				tables++
				q := newQuestion(bloom(t, 10))
				r := openTable(t, readGoldenTable(t, g, tab),
					goleveldb.TableOptions(&opt.Options{Filter: goleveldb.New(q)}))
				for _, p := range tab.Probes {
					if p.Why == "out_of_range" {
						continue // a table's reader does not know the range
					}
					q.answer = nil
					found, _, err := r.Find(goleveldb.SearchKey(p.Key), true, nil)
					if err == nil { // the next key
						require.NotEqual(t, []byte(p.Key), userKey(found))
					} else {
						require.ErrorIs(t, err, table.ErrNotFound)
					}
					require.Equal(t, p.MayMatch, q.answer, "%s, absent key %x %s",
						tab.File, []byte(p.Key), p.Why)
				}
				require.Equal(t, answers(tab), q.asked.Load())
				compared += q.asked.Load()

				q.asked.Store(0)
				for _, key := range tab.UserKeys {
					q.answer = nil
					found, _, err := r.Find(goleveldb.SearchKey(key), true, nil)
					require.NoError(t, err, "%s, key %x", tab.File, []byte(key))
					require.Equal(t, []byte(key), userKey(found))
					require.Equal(t, tab.FilterConsulted, q.answer != nil)
				}
				r.Release()
			}
			if len(g.Tables) > 1 && g.DB != "multi_level" {
				requireLive(t, g, openGolden(t, g, bloom(t, 10)))
			}
		})
	}
	require.GreaterOrEqual(t, tables, 20)
	require.GreaterOrEqual(t, compared, int64(29_726),
		"as many as the directories had when they were recorded")
}

// A filter under another name is found under that name.
func TestGoldenCustomName(t *testing.T) {
	found := false
	for _, g := range readGolden(t) {
		if g.DB != "custom_policy" {
			continue
		}
		found = true
		q := newQuestion(bloom(t, 10, policy.WithName("golden.CustomFilter")))
		db := openGolden(t, g, q)
		defer db.Close()
		requireLive(t, g, db)
		require.EqualValues(t, len(g.Tables[0].UserKeys), q.asked.Load())
		require.Zero(t, q.absent.Load())
		for _, p := range g.Tables[0].Probes {
			_, err := db.Get(p.Key, nil)
			require.ErrorIs(t, err, leveldb.ErrNotFound)
		}
		require.Greater(t, q.absent.Load(), int64(1000))
	}
	require.True(t, found)
}

// Tables of C++ LevelDB's table builder have plain keys.
func TestGoldenPlainTables(t *testing.T) {
	tables := 0
	for _, g := range readGolden(t) {
		if g.DB != "raw_tablebuilder" {
			continue
		}
		for _, tab := range g.Tables {
			tables++
			p := &spy{Policy: bloom(t, 10)}
			r := openTable(t, readGoldenTable(t, g, tab), &opt.Options{Filter: goleveldb.New(p)})
			for _, key := range tab.Keys {
				found, _, err := r.Find(key, true, nil)
				require.NoError(t, err, "%s, key %x", tab.File, []byte(key))
				require.Equal(t, []byte(key), found)
			}
			if !tab.HasFilter {
				require.Zero(t, p.asked.Load())
				continue
			}
			require.EqualValues(t, len(tab.Keys), p.asked.Load(), tab.File)
			require.Zero(t, p.absent.Load())
			for _, key := range tab.Keys {
				_, _, err := r.Find(append(bytes.Clone(key), 0), true, nil)
				if err != nil {
					require.ErrorIs(t, err, table.ErrNotFound)
				}
			}
			require.GreaterOrEqual(t, p.absent.Load(), int64(len(tab.Keys)*9/10), tab.File)
			r.Release()
		}
	}
	require.GreaterOrEqual(t, tables, 5)
}
