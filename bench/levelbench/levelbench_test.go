package levelbench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/keyset"
	"github.com/levelbloom/levelbloom/bench/measure"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

// small returns a configuration of a short run. At 12 bits per key, binary fuse fits from a thousand keys on.
func small(t *testing.T, plans ...string) (*Config, *progress) {
	shape, err := keyset.ShapeNamed("decimal")
	require.NoError(t, err)
	p := new(progress)
	c := &Config{
		Bits: 12, Keys: 20_000, Operations: 10_000, Writes: 0.5, Hits: 0.1, ValueSize: 100, Shape: shape, Density: 0.63,
		Read: engine.Get, Factor: 4, Rounds: 1, Seed: 1, Dir: t.TempDir(), Progress: p,
		OnFatal: func(err error) { t.Errorf("fatal: %v", err) },
	}
	for _, name := range plans {
		plan, err := ParsePlan(name, 4)
		require.NoError(t, err)
		c.Plans = append(c.Plans, plan)
	}
	return c, p
}

// progress records what it is told.
type progress struct {
	total int
	steps []string
	done  bool
}

func (p *progress) Start(total int)  { p.total = total }
func (p *progress) Next(what string) { p.steps = append(p.steps, what) }
func (p *progress) Done()            { p.done = true }

// Every contestant runs once in each round, in an order that rotates, and leaves nothing behind.
func TestRun(t *testing.T) {
	c, p := small(t, "blocked/fuse", none)
	c.Rounds = 2
	outcome, err := c.Run(context.Background())
	require.NoError(t, err)
	var order []string
	for _, run := range outcome.Runs {
		order = append(order, fmt.Sprintf("round %d of 2: %s", run.Round, run.Plan))
		requireSound(t, c, run, outcome.Counts)
	}
	require.Equal(t, []string{
		"round 1 of 2: blocked/fuse", "round 1 of 2: blocked/fuse again", "round 1 of 2: none",
		"round 2 of 2: blocked/fuse again", "round 2 of 2: none", "round 2 of 2: blocked/fuse",
	}, order)
	require.Equal(t, order, p.steps)
	require.Equal(t, len(order), p.total)
	require.True(t, p.done)
	left, err := os.ReadDir(c.Dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// SeekPrefixGE asks the filters in L6 too.
func TestRunByPrefix(t *testing.T) {
	c, _ := small(t, builtin, "exact/blocked")
	c.Read = engine.Prefix
	outcome, err := c.Run(context.Background())
	require.NoError(t, err)
	require.Len(t, outcome.Runs, 3)
	for _, run := range outcome.Runs {
		requireSound(t, c, run, outcome.Counts)
	}
}

// requireSound requires that what a run counted fits together.
func requireSound(t *testing.T, c *Config, run Run, counts Counts) {
	require.Positive(t, run.Time)
	require.Positive(t, run.Lookup.P50)
	require.GreaterOrEqual(t, run.Lookup.P99, run.Lookup.P50)
	require.Positive(t, run.Tables.Levels[lastLevel].Tables)
	all := run.all()
	if run.Plan == none {
		require.Zero(t, all)
		require.Zero(t, run.Tables.FilterBytes)
		return
	}
	for level, l := range run.Levels {
		var written int64
		for _, keys := range l.Built.Written {
			written += keys
		}
		require.Equal(t, l.Built.Keys, written, "%s, L%d", run.Plan, level)
		require.Len(t, l.Built.Times, int(l.Built.Filters), "%s, L%d", run.Plan, level)
		require.LessOrEqual(t, l.Absent.Avoided, l.Absent.Checks, "%s, L%d", run.Plan, level)
	}
	require.Positive(t, run.Levels[0].Built.Keys)
	require.Less(t, run.Levels[0].Built.Keys, int64(c.Keys), "the load is not counted")
	for _, filters := range []struct{ bytes, keys int64 }{{all.Built.Bytes, all.Built.Keys}, {run.Tables.FilterBytes, run.Tables.FilteredKeys}} {
		bytesPerKey := float64(filters.bytes) / float64(filters.keys)
		require.Greater(t, bytesPerKey, 9.04/8)
		require.Less(t, bytesPerKey, c.Bits/8+0.2)
	}

	l6 := run.Levels[lastLevel]
	if c.Read == engine.Get {
		require.Zero(t, l6)
	} else {
		require.InDelta(t, counts[miss], l6.Absent.Checks, 0.1*float64(counts[miss]), "nearly all lookups of absent keys come to L6")
		require.Greater(t, l6.Present.MayContain(), int64(counts[hit])/2, "most present keys lie in L6")
	}
	require.Positive(t, all.Absent.Checks)
	require.Less(t, all.fpr(), 0.03)
	require.Positive(t, all.Present.Checks)
}

// What lies on disk is what the plan says: the policies' names, and in this module's filters the last byte.
func TestFiltersOnDisk(t *testing.T) {
	for _, name := range []string{"none", "builtin", "exact", "blocked", "fuse", "blocked/fuse", "exact/builtin"} {
		t.Run(name, func(t *testing.T) {
			c, _ := small(t, name)
			c.Read = engine.Prefix
			w, err := c.newWorkload()
			require.NoError(t, err)
			db, err := c.open(c.Dir, c.Plans[0], w.bytesOf(c.Keys))
			require.NoError(t, err)
			defer func() { require.NoError(t, db.Close()) }()
			require.NoError(t, db.load(context.Background(), w))
			// The compactions are done, so the levels between L0 and L6 have what the load left there.
			for i := range 5000 {
				require.NoError(t, db.do(operation{overwrite, uint32(i)}, w, i))
			}
			require.NoError(t, db.Flush())
			require.NoError(t, db.settle(context.Background()))

			names := map[string]Encoding{}
			var known []string
			for level, e := range c.Plans[0].Levels {
				name := fmt.Sprintf("%s in L%d", e.Name, level)
				names[name], known = e, append(known, name)
			}
			levels, err := db.SSTables(pebble.WithProperties())
			require.NoError(t, err)
			lastBytes := map[string]map[byte]int{}
			total := 0
			for level, all := range levels {
				for _, info := range all {
					e, ok := names[info.Properties.FilterPolicyName]
					if c.Plans[0].Levels[level].Name == none {
						require.Empty(t, info.Properties.FilterPolicyName)
						continue
					}
					require.True(t, ok, "L%d: %q", level, info.Properties.FilterPolicyName)
					total++
					if e.newPolicy == nil {
						continue
					}
					table, err := tables.Open(filepath.Join(c.Dir, fmt.Sprintf("%06d.sst", info.FileNum)), tables.Options{Bloom: known})
					require.NoError(t, err)
					filters := table.Info().Filters
					require.Equal(t, info.Properties.FilterPolicyName, filters.Policy)
					require.Len(t, filters.Each, 1)
					if lastBytes[e.Name] == nil {
						lastBytes[e.Name] = map[byte]int{}
					}
					filter := filters.Each[0]
					lastBytes[e.Name][filter[len(filter)-1]]++
					require.NoError(t, table.Close())
				}
			}
			require.Equal(t, name != none, total > 0)
			for encoding, found := range lastBytes {
				switch encoding {
				case "exact":
					require.Equal(t, []byte{8}, keysOf(found)) // k = 0.69 * 12
				case "blocked":
					require.Equal(t, []byte{0x42}, keysOf(found))
				case "fuse":
					require.Positive(t, found[0x46])
					delete(found, 0x46)
					delete(found, 0x42) // of tables that are too small
					require.Empty(t, found)
				}
			}
		})
	}
}

func keysOf(m map[byte]int) (keys []byte) {
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

// hooked is a policy whose filters are asked by a function.
type hooked struct {
	*policy.BlockedBloom
	mayContain func(filter, key []byte) bool
}

func (h hooked) MayContain(filter, key []byte) bool { return h.mayContain(filter, key) }

// loaded opens and loads a database of which L6 has a hooked policy, and the other levels have no filter.
func loaded(t *testing.T, mayContain func(filter, key []byte) bool) (*database, *workload) {
	blocked, err := policy.NewBlockedBloom(12, policy.WithName("hooked"))
	require.NoError(t, err)
	c, _ := small(t, none)
	c.Read = engine.Prefix
	c.Plans[0].Levels[lastLevel] = Encoding{Name: "hooked", newPolicy: func(float64) (policy.Policy, error) { return hooked{blocked, mayContain}, nil }}
	w, err := c.newWorkload()
	require.NoError(t, err)
	db, err := c.open(c.Dir, c.Plans[0], w.bytesOf(c.Keys))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, db.load(context.Background(), w))
	return db, w
}

func TestLostKeyIsNoticed(t *testing.T) {
	db, w := loaded(t, func(_, _ []byte) bool { return false })
	_, err := db.operate(context.Background(), w)
	require.ErrorIs(t, err, measure.ErrLostKey)
}

func TestFoundThoughNeverStoredIsNoticed(t *testing.T) {
	db, w := loaded(t, policy.MayContain)
	for i := range w.keys[miss].count() {
		require.NoError(t, db.Set(w.keys[miss].at(uint32(i)), nil, pebble.NoSync))
	}
	_, err := db.operate(context.Background(), w)
	require.ErrorContains(t, err, "a key that was never stored was found: ")
}

func TestOtherCountsThanTheEnginesAreNoticed(t *testing.T) {
	var db *database
	asked := 0
	db, w := loaded(t, func(filter, key []byte) bool {
		if asked++; asked == 100 {
			db.meters[lastLevel].answers[hit].avoided.Add(1)
		}
		return policy.MayContain(filter, key)
	})
	w.operations = w.operations[:5000]
	_, err := db.operate(context.Background(), w)
	require.ErrorContains(t, err, "the engine counted ")
	_, err = db.operate(context.Background(), w)
	require.NoError(t, err, "what was counted before does not matter")
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		change  func(*Config)
		message string
	}{
		{func(c *Config) { c.Keys = 0 }, "0 keys: pass 1 to"},
		{func(c *Config) { c.Operations = 0 }, "0 operations: pass 1 to"},
		{func(c *Config) { c.Writes = 1 }, "100 % writes: pass 0 to less than 100"},
		{func(c *Config) { c.Hits = -0.5 }, "-50 % hits: pass 0 to less than 100"},
		{func(c *Config) { c.ValueSize = -1 }, "values of -1 bytes: pass 0 to"},
		{func(c *Config) { c.Factor = 1 }, "factor 1: pass 2 to 100"},
		{func(c *Config) { c.Rounds = 0 }, "0 rounds: pass 1 or more"},
		{func(c *Config) { c.Plans = nil }, "no plan: pass at least one"},
		{func(c *Config) { c.Bits = 0 }, "policy: 0 bits per key"},
		{func(c *Config) { c.Density = 1 }, "density 1: pass a number between 0 and 1"},
	} {
		config, _ := small(t, "blocked")
		c.change(config)
		_, err := config.Run(context.Background())
		require.ErrorContains(t, err, c.message)
	}
}
