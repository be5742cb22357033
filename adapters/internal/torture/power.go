package torture

import (
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
)

// The power is cut while a database is in use. What was synced is there afterwards.
func testPowerLoss(t *testing.T, target Target) {
	rng := enginetest.Rand(t, enginetest.Seed())
	var v Volatile
	var s *state
	var variant, batches, undecided int
	losses := 5 * *rounds
	if testing.Short() {
		losses = *rounds
	}
	for round := range losses {
		if round%10 == 0 {
			v = target.Volatile(t)
			variant = rng.Intn(len(v.Variants()))
			s = newState('k', v.Variants()[variant])
			s.ways = v.Ways
		}
		before := s.batches
		db := s.open(t, v, randomSetting(rng, variant))
		for range rng.Intn(3) {
			require.NoError(t, db.Compact())
		}
		done := disturb(t, db, rng.Int63())
		for range rng.Intn(60) {
			require.NoError(t, s.act(rng, db))
		}
		restore := s.cutWhileWriting(t, v, db, rng)
		if s.pending != nil {
			undecided++
		}
		done()
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
