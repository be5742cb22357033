package verdict

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble"
	pebblev2 "github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/ondisk"
)

// simulated returns two rounds of 1,000 misses that ask 4,000 filters, with the given false
// positives, and without filters in L6 nearly always a read there.
func simulated(name string, own, tuned, best, small int64) (runs enginebench.Runs) {
	positives := map[string]int64{engine.None: 0, engine.BuiltIn: own, "tuned": tuned, "ribbon": best,
		engine.RibbonSmall: small, engine.RibbonL6: best, "ribbon again": best}
	for round := 1; round <= 2; round++ {
		for _, filter := range []string{engine.None, engine.BuiltIn, "tuned", engine.RibbonSmall,
			engine.RibbonL6, "ribbon", "ribbon again"} {
			if name == "goleveldb" && filter == engine.RibbonL6 {
				continue
			}
			r := enginebench.Run{Engine: name, Contestant: filter, Round: round,
				BetweenLookups: 1000, FilterBytes: 1250, Keys: 1000}
			r.Miss.Reads = 0.9
			switch filter {
			case engine.None:
				r.FilterBytes = 0
			case engine.RibbonSmall:
				r.FilterBytes = 875
			case engine.RibbonL6:
				r.Miss.Reads = 0.01
			}
			if filter != engine.None {
				r.BetweenChecks, r.BetweenAvoided = 4000, 4000-positives[filter]
			}
			runs = append(runs, r)
		}
	}
	return runs
}

func only(t *testing.T, r Record) Verdict {
	r.Bits = 10
	all := r.Verdicts()
	require.Len(t, all, 1)
	return all[0]
}

// A change is advised only if it is beyond the noise and worth a reader's time.
func TestKeepOrChange(t *testing.T) {
	const keep = "Keep what you have: no other filter saves you many reads"
	v := only(t, Record{Runs: simulated("goleveldb", 40, 30, 4, 36)})
	require.Equal(t, keep+"; ribbon saves 30\u00a0% of the filters' memory at the same rate.", v.Sentence)
	require.Equal(t, []string{
		"p, err := policy.NewRibbon(7, policy.WithName(policy.NameGoLevelDB)) // to save memory",
		"err = goleveldb.Configure(options, p)"}, v.Code)

	// 74 fewer of 1,000 misses are not worth a change; 76 are.
	v = only(t, Record{Runs: simulated("goleveldb", 76, 30, 2, 500)})
	require.Equal(t, keep+".", v.Sentence)
	require.Empty(t, v.Code)
	v = only(t, Record{Runs: simulated("goleveldb", 78, 30, 2, 500)})
	require.Equal(t, "Use ribbon filters instead of goleveldb's own filters: 2.0 [0.55 to 7.3] "+
		"needless reads per 1,000 misses (simulated), not 78 [63 to 97].", v.Sentence)
	require.Equal(t, []string{"p, err := policy.NewRibbon(10, policy.WithName(policy.NameGoLevelDB))",
		"err = goleveldb.Configure(options, p)"}, v.Code)
	text := strings.Join(Lines([]Verdict{v}), "\n")
	require.Contains(t, text, "If a read takes 100 us, a miss takes 7.6 [5.5 to 9.7] us less.")
	require.Contains(t, text, "policy.WithTuning(0.05)), which leave 30 [21 to 43] needless reads.\n")
	require.True(t, strings.HasSuffix(text, "\n    err = goleveldb.Configure(options, p)"))

	// Intervals that overlap are noise.
	runs := simulated("goleveldb", 4, 4, 1, 500)
	for i := range runs {
		runs[i].BetweenLookups = 20
	}
	v = only(t, Record{Runs: runs})
	require.Equal(t, keep+".", v.Sentence)
}

// Owners of Pebble read of L6, and nothing about C++ LevelDB.
func TestPebble(t *testing.T) {
	v := only(t, Record{Runs: simulated("pebblev2", 40, 30, 4, 36)})
	text := strings.Join(Lines([]Verdict{v}), "\n")
	require.Contains(t, text, "1,000 misses need 900 [843 to 961] reads (simulated). With filters "+
		"there, and Has or Get of the adapter, 4.0 [1.6 to 10]; but a present key takes a read more "+
		"for each older version in a lower level. ")
	require.Equal(t, []string{"p, err := policy.NewRibbon(10)",
		"err = pebblev2.Configure(options, p, pebblev2.WithL6(p))",
		"found, err := pebblev2.Has(db, key)"}, v.Code)
	changed := only(t, Record{Runs: simulated("pebblev2", 400, 30, 4, 36)})
	for _, text := range Lines([]Verdict{v, changed}) {
		require.NotContains(t, text, "C++")
		require.NotContains(t, text, "NameGoLevelDB")
	}

	runs := simulated("pebblev2", 40, 30, 4, 36)
	for i := range runs {
		runs[i].Miss.Reads = 0.05 // L6 is small
	}
	v = only(t, Record{Runs: runs})
	require.Empty(t, v.Facts)
	require.Equal(t, "err = pebblev2.Configure(options, p)", v.Code[1])
}

// What is on disk is what the reader has.
func TestOnDisk(t *testing.T) {
	runs := simulated("goleveldb", 40, 30, 4, 36)
	none := &Disk{Engine: "goleveldb", All: 9, Sample: ondisk.Summary{Tables: 9, Without: 9}}
	v := only(t, Record{Runs: runs, Disk: none})
	require.Equal(t, "Use goleveldb's own filters instead of no filters: 40 [29 to 54] needless "+
		"reads per 1,000 misses (simulated), not 4000 [3878 to 4126].", v.Sentence)
	require.Equal(t, []string{"options.Filter = filter.NewBloomFilter(10)"}, v.Code)
	require.Contains(t, v.Facts, "On disk now: none of 9 tables has a filter.")

	// Filters that are worse on disk than simulated.
	bad := &Disk{Engine: "goleveldb", All: 20,
		Sample: ondisk.Summary{Tables: 10, Without: 1}}
	bad.Sample.Policies = map[string]int{policy.Name: 9}
	bad.Sample.Encodings = map[string]int{"LevelDB Bloom": 9}
	bad.Sample.FilterBytes, bad.Sample.BitsPerKey = 1e6, 10
	b := &bad.Sample.Between
	b.Asked, b.Rate, b.Low, b.High = 1000, 0.2, 0.19, 0.21
	v = only(t, Record{Runs: runs, Disk: bad})
	require.Equal(t, "Use ribbon filters instead of goleveldb's own filters: 4.0 [1.6 to 10] needless "+
		"reads per 1,000 misses (simulated), not 800 [760 to 840] (by the rate on disk).", v.Sentence)
	require.Equal(t, "p, err := policy.NewRibbon(10)", v.Code[0], "C++ LevelDB shares the files")
	require.Contains(t, v.Facts, "On disk now: 9 of 10 tables have filters: LevelDB Bloom, named "+
		"leveldb.BuiltinBloomFilter2, 10.0 bits per key. Of absent keys between yours 20 [19 to 21]"+
		"\u00a0% are false positives. All filters take 2.0 MB, for which the block cache must have "+
		"room (goleveldb's default has 8.4 MB).")
	bad.Cache = 5e6
	require.Contains(t, bad.String(), "(5.0 MB by the OPTIONS file)")

	bad.Sample.Encodings = map[string]int{policy.EncodingRibbon.String(): 9}
	b.Rate, b.Low, b.High = 0, 0, 0.002
	require.Equal(t, "Keep what you have: no other filter saves you many reads.",
		only(t, Record{Runs: runs, Disk: bad}).Sentence)
}

// A run that ended early, or that asked no filter, has no verdict.
func TestTooLittle(t *testing.T) {
	runs := simulated("goleveldb", 40, 30, 4, 36)
	require.Empty(t, (&Record{Runs: runs[:1]}).Verdicts())
	runs[1].BetweenChecks, runs[1].BetweenAvoided = 0, 0
	pebble := simulated("pebblev2", 40, 30, 4, 36)
	none := Record{Runs: pebble[1:7], Disk: &Disk{Engine: "pebblev2"}}
	require.Empty(t, none.Verdicts(), "no run has what is on disk")
	require.Empty(t, (&Record{Runs: runs}).Verdicts())
}

// Databases of all engines are told apart, and their filters found.
func TestReadDisk(t *testing.T) {
	const n = 3000
	fill := func(put func(key, value []byte) error) {
		rng := rand.New(rand.NewSource(1))
		for range n {
			require.NoError(t, put(fmt.Appendf(nil, "%016d", rng.Intn(n)), make([]byte, 10)))
		}
	}
	read := func(dir string) *Disk {
		d, err := ReadDisk(context.Background(), dir)
		require.NoError(t, err)
		return d
	}
	tuned, err := policy.NewBloom(10, policy.WithTuning(0.05))
	require.NoError(t, err)
	ribbon, err := policy.NewRibbon(10)
	require.NoError(t, err)
	for want, f := range map[string]filter.Filter{engine.None: nil,
		engine.BuiltIn: filter.NewBloomFilter(10), "tuned": goleveldb.New(tuned),
		"ribbon": goleveldb.New(ribbon)} {
		dir := t.TempDir()
		db, err := leveldb.OpenFile(dir, &opt.Options{Filter: f})
		require.NoError(t, err)
		fill(func(key, value []byte) error { return db.Put(key, value, nil) })
		transaction, err := db.OpenTransaction() // flushes
		require.NoError(t, err)
		transaction.Discard()
		require.NoError(t, db.Close())
		d := read(dir)
		require.Equal(t, "goleveldb", d.Engine)
		require.Equal(t, want, d.Filter())
		require.Equal(t, 1, d.All)
		require.Equal(t, want != engine.None, d.Sample.Between.Asked > 0)
	}

	dir := t.TempDir()
	v1, err := pebble.Open(dir, &pebble.Options{Cache: pebble.NewCache(5 << 20)})
	require.NoError(t, err)
	fill(func(key, value []byte) error { return v1.Set(key, value, pebble.NoSync) })
	require.NoError(t, v1.Flush())
	require.NoError(t, v1.Close())
	require.Equal(t, "pebblev1", read(dir).Engine)
	require.EqualValues(t, 5<<20, read(dir).Cache)

	dir = t.TempDir()
	v2, err := pebblev2.Open(dir, &pebblev2.Options{})
	require.NoError(t, err)
	fill(func(key, value []byte) error { return v2.Set(key, value, pebblev2.NoSync) })
	require.NoError(t, v2.Flush())
	require.NoError(t, v2.Close())
	require.Equal(t, "pebblev2", read(dir).Engine)

	file := filepath.Join(t.TempDir(), "keys.txt")
	require.NoError(t, os.WriteFile(file, []byte("a\n"), 0o600))
	require.Nil(t, read(file))
}
