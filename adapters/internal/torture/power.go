package torture

import (
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// The power is cut after changes, or with -large also within one, while other goroutines flush and
// compact. What was synced is there afterwards.
func testPowerLoss(t *testing.T, target Target) {
	t.Run("Still", func(t *testing.T) { losePower(t, target, true, 2**rounds) })
	t.Run("Busy", func(t *testing.T) {
		testkit.Large(t)
		losePower(t, target, false, 5**rounds)
	})
}

// losePower cuts the power of databases, in which nothing moves by itself if still is set.
func losePower(t *testing.T, target Target, still bool, losses int) {
	rng := testkit.Rand(t, enginetest.Seed())
	var v Volatile
	var s *state
	var variant, batches, undecided int
	for round := range losses {
		if round%10 == 0 {
			v = target.Volatile(t)
			variant = rng.Intn(len(v.Variants()))
			s = newState('k', v.Variants()[variant])
			s.ways = v.Ways
		}
		before := s.batches
		set := randomSetting(rng, variant)
		set.Still = still
		db := s.open(t, v, set)
		act := func(n int) {
			for range n {
				require.NoError(t, s.act(rng, db))
			}
		}
		var restore func() Volatile
		if still {
			act(rng.Intn(30))
			require.NoError(t, []func() error{db.Flush, db.Compact}[rng.Intn(2)]())
			act(rng.Intn(30))
			restore = v.Cut(rng)
		} else {
			done := disturb(t, db, rng.Int63())
			act(rng.Intn(60))
			restore = s.cutWhileWriting(t, v, db, rng)
			done()
		}
		if s.pending != nil {
			undecided++
		}
		require.NoError(t, db.Close())
		v = restore()
		batches += s.batches - before
	}
	require.NoError(t, s.open(t, v, randomSetting(rng, variant)).Close())
	t.Logf("%d losses of power, %d of them within a change; %d batches acknowledged",
		losses, undecided, batches)
}

// cutWhileWriting cuts the power while the database makes a last change. It is pending, unless it
// was acknowledged before.
func (s *state) cutWhileWriting(
	t testing.TB, v Volatile, db enginetest.DB, rng *rand.Rand,
) (restore func() Volatile) {
	acknowledged := make(chan error, 1)
	delay := time.Duration(rng.Intn(500)) * time.Microsecond
	change, do := s.drawBatch(rng, db, 50)
	s.write(record{Change: change})
	go func() { acknowledged <- do() }()
	time.Sleep(delay)
	select {
	case err := <-acknowledged:
		require.NoError(t, err)
		s.write(record{Note: kept})
		return v.Cut(rng)
	default:
	}
	restore = v.Cut(rng)
	require.NoError(t, <-acknowledged)
	return restore
}
