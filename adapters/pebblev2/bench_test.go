package pebblev2_test

import (
	"bytes"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"math/rand"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// BenchmarkLookup compares the ways to look keys up. All keys are in L6. Of twenty, one is written
// again in L0, one in two tables of it, and one is deleted there. On disk the filters, the indexes
// and about a sixteenth of the data are cached, and each way's figure is how many reads of tables a
// key takes. In memory all is cached, another key of twenty is in a memtable, and the figure is the
// time, as a multiple of DB.Get's. The ways take turns of 1,000 keys; HasMany has them all at once,
// and sorted. A round gives each way a turn. A time is the median of rounds.
//
//	go test ./adapters/pebblev2 -run '^$' -bench Lookup -benchtime 300x
func BenchmarkLookup(b *testing.B) {
	const present, turn = 400_000, 1000
	rng := rand.New(rand.NewSource(1))
	keys := make([][]byte, 2*present)
	for i := range keys {
		keys[i] = make([]byte, 16)
		rng.Read(keys[i])
	}
	part := func(i int) [][]byte { return keys[i*present/20 : (i+1)*present/20] }
	rewritten, twice, deleted, recent := part(0), part(1), part(2), part(3)
	once, absent := keys[present/5:present], keys[present:]
	var reads atomic.Int64
	fs := reading(vfs.NewMem(), func(fileRead) error { reads.Add(1); return nil })
	p := ribbon(b, 10)
	opened := func(cache int64) *pebble.DB {
		o := resting(flat(small(pebble.FormatNewest), 2<<20))
		o.FS, o.Cache, o.L0StopWritesThreshold = fs, pebble.NewCache(cache), 1000
		o.MemTableSize = 4 << 20
		b.Cleanup(o.Cache.Unref)
		return open(b, "db", configured(b, o, p))
	}
	db := opened(256 << 20)
	put(b, db, keys[:present])
	compact(b, db)
	put(b, db, keys[:present/10])
	for _, key := range deleted {
		require.NoError(b, db.Delete(key, pebble.NoSync))
	}
	put(b, db, twice)
	require.NoError(b, db.Close())

	each := func(look func(key []byte) error) func([][]byte) error {
		return func(keys [][]byte) error {
			for _, key := range keys {
				if err := look(key); err != nil && err != pebble.ErrNotFound {
					return err
				}
			}
			return nil
		}
	}
	ways := []struct {
		name string
		look func(keys [][]byte) error
	}{
		{"DB.Get", each(func(key []byte) error { return answerOf(db.Get(key)).err })},
		{"Get", each(func(key []byte) error { return answerOf(pebblev2.Get(db, key)).err })},
		{"Has", each(func(key []byte) error { _, err := pebblev2.Has(db, key); return err })},
		{"MayContain", each(func(key []byte) error {
			_, err := pebblev2.MayContain(db, key)
			return err
		})},
		{"HasMany", func(keys [][]byte) error { _, err := pebblev2.HasMany(db, keys); return err }},
	}
	type kind struct {
		name string
		keys [][]byte
	}
	for _, place := range []string{"disk", "memory"} {
		db = opened(map[string]int64{"disk": 3<<20 + present*100/16, "memory": 256 << 20}[place])
		kinds := []kind{{"absent", absent}, {"present", once}, {"rewritten", rewritten},
			{"rewritten twice", twice}, {"deleted", deleted}}
		if place == "memory" { // on disk, the memtable would take the cache from the blocks
			for range 5 { // each memtable has room for twice as much as the one before
				put(b, db, [][]byte{bytes.Repeat([]byte{0xff}, 16)})
			}
			for _, key := range recent {
				require.NoError(b, db.Set(key, value(key), pebble.NoSync))
			}
			kinds = append(kinds, kind{"in a memtable", recent})
		}
		for _, kind := range kinds {
			looked := make([][]byte, 64*turn)
			for i := range looked {
				looked[i] = kind.keys[rng.Intn(len(kind.keys))]
			}
			turns := slices.Collect(slices.Chunk(looked, turn))
			for _, keys := range turns { // the cache is full of what they need
				require.NoError(b, ways[0].look(keys))
				require.NoError(b, ways[1].look(keys))
			}
			b.Run(place+"/"+kind.name, func(b *testing.B) {
				times := make([][]float64, len(ways)) // by round
				readBy := make([]int64, len(ways))
				for round := range b.N {
					for i := range ways {
						i := (i + round) % len(ways)
						keys := turns[(round*len(ways)+i)%len(turns)]
						if ways[i].name == "HasMany" { // as its callers would
							keys = slices.SortedFunc(slices.Values(keys), bytes.Compare)
						}
						before, start := reads.Load(), time.Now()
						require.NoError(b, ways[i].look(keys))
						times[i] = append(times[i], float64(time.Since(start)))
						readBy[i] += reads.Load() - before
					}
				}
				b.ReportMetric(0, "ns/op")
				for i, way := range ways {
					if place == "disk" {
						b.ReportMetric(float64(readBy[i])/float64(turn*b.N), way.name)
					} else if i > 0 {
						for round, byGet := range times[0] {
							times[i][round] /= byGet
						}
						slices.Sort(times[i])
						b.ReportMetric(times[i][b.N/2], way.name)
					}
				}
			})
		}
		require.NoError(b, db.Close())
	}
}

// BenchmarkLevels counts the false positives per 1,000 absent keys, and the bits of filters per
// key, if L0, L1 to L5, and L6 have ribbon filters of different bits, in a database of random keys
// that were overwritten twice, also at random. All sizes are an eighth of Pebble's defaults.
//
//	go test ./adapters/pebblev2 -run '^$' -bench Levels -benchtime 1x
func BenchmarkLevels(b *testing.B) {
	const present, absent = 400_000, 100_000
	key := func(i int) []byte {
		sum := sha512.Sum512(binary.LittleEndian.AppendUint64(nil, uint64(i)))
		return sum[:16]
	}
	for _, bits := range [][3]float64{
		{10, 10, 10}, {16, 10, 10}, {16, 10, 7}, {10, 10, 7}, {16, 8, 5}, {5, 5, 5},
	} {
		b.Run(fmt.Sprint(bits), func(b *testing.B) {
			var levels []*policy.Policy
			for _, bits := range []float64{bits[0], bits[1], bits[1], bits[1], bits[1], bits[1], bits[2]} {
				levels = append(levels, ribbon(b, bits))
			}
			o := &pebble.Options{FS: vfs.NewMem(), FormatMajorVersion: pebble.FormatNewest,
				Logger: quiet{}, MemTableSize: 512 << 10, LBaseMaxBytes: 8 << 20}
			flat(o, 256<<10)
			require.NoError(b, configureLevels(levels...)(o))
			for range b.N {
				db := open(b, "db", o)
				rng, value := rand.New(rand.NewSource(1)), make([]byte, 100)
				for i := range 3 * present {
					written := i
					if i >= present {
						written = rng.Intn(present)
					}
					rng.Read(value)
					require.NoError(b, db.Set(key(written), value, pebble.NoSync))
				}
				before := mayContain(levels)
				for i := range absent {
					found, err := pebblev2.Has(db, key(present+i))
					require.True(b, err == nil && !found)
				}
				positives := mayContain(levels) - before
				report, err := pebblev2.Check(o, db)
				require.NoError(b, err)
				b.ReportMetric(1000*float64(positives)/absent, "positives/1000")
				filters := 0.0
				for _, l := range report.Levels {
					filters += float64(l.FilterBytes)
				}
				b.ReportMetric(8*filters/present, "bits/key")
				b.ReportMetric(0, "ns/op")
				require.NoError(b, db.Close())
			}
		})
	}
}

// mayContain returns how often filters of all levels did not exclude a key.
func mayContain(levels []*policy.Policy) (sum uint64) {
	for _, p := range levels {
		sum += p.Counters().MayContain
	}
	return sum
}
