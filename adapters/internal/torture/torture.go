// Package torture tests that a database whose filters change all the time loses no key, while it
// is used from several goroutines ([Soak]), and when its process is killed ([Kill]). It is test
// code. Several packages' tests share it, so its files cannot end in _test.go.
//
// .github/TESTING.md says how to run it for longer.
package torture

import (
	"context"
	"flag"
	"math/rand"
	"testing"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
)

var none = flag.Bool("none", false,
	"kill and soak without any filter, which shows the engine's own faults")

// A Target is an engine that can be tortured.
type Target struct {
	// OnDisk returns the engine of the database in directory "db" below dir, which is "" for the
	// working directory.
	OnDisk func(t testing.TB, dir string) enginetest.Engine
	// Ways is in how many of its ways the database is written to; 0 is all.
	Ways int
}

// randomPolicy draws a policy that counts, of any kind, with one of three names.
func randomPolicy(rng *rand.Rand) *policy.Policy {
	name := []string{policy.Name, policy.NameGoLevelDB, "mine"}[rng.Intn(3)]
	kind, opts := enginetest.Kinds[rng.Intn(len(enginetest.Kinds))], []policy.Option(nil)
	if kind.Name == "bloom" && rng.Intn(2) == 0 {
		opts = append(opts, policy.WithTuning())
	}
	return kind.MustNew(2+20*rng.Float64(), name, opts...)
}

// randomSetting draws a setting for a variant: with the engine's own filter or without, and with up
// to three policies.
func randomSetting(rng *rand.Rand, variant int) enginetest.Setting {
	s := enginetest.Setting{Variant: variant, Large: rng.Intn(2) == 0}
	if *none {
		return s
	}
	s.Builtin = rng.Intn(3) == 0
	for range []int{0, 1, 1, 2, 3}[rng.Intn(5)] { // policies, the last of which builds
		s.Policies = append(s.Policies, randomPolicy(rng))
	}
	return s
}

// disturb flushes, compacts and rewrites the database, reads its numbers, and changes the options
// that it was opened with, which must have no effect on it, until done is called.
func disturb(t testing.TB, db enginetest.DB, seed int64) (done func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	rng := rand.New(rand.NewSource(seed))
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			move := db.Flush
			switch rng.Intn(9) {
			case 0, 1:
				move = db.Compact
			case 2:
				move = func() error {
					db.Checks()
					_, err := db.Tables()
					return err
				}
			case 3:
				p := randomPolicy(rng)
				move = func() error { return db.Reconfigure(p) }
			case 4:
				move = func() error { return db.Rewrite(context.Background()) }
			}
			if err := move(); err != nil {
				t.Errorf("while tables move: %v", err)
				return
			}
		}
	}()
	return func() { close(stop); <-stopped }
}
