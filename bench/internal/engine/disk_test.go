package engine

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Reads of tables wait, in every engine; nothing else does.
func TestDisk(t *testing.T) {
	const latency = 2 * time.Millisecond
	for _, e := range Engines {
		t.Run(e.Name, func(t *testing.T) {
			config := Config{
				Dir: t.TempDir(), Filter: None, Scale: ScaleFor(1000), Cache: 1 << 20,
				OnFatal: func(err error) { t.Errorf("fatal: %v", err) }, Disk: new(Disk),
			}
			db, err := e.Open(config)
			require.NoError(t, err)
			require.NoError(t, db.Put(key(1), key(1)))
			_, err = db.Get(key(1))
			require.NoError(t, err)
			require.Zero(t, config.Disk.Reads(), "the key is in memory")
			_, err = db.Settle(context.Background())
			require.NoError(t, err)

			before := config.Disk.Reads()
			config.Disk.SetLatency(latency)
			start := time.Now()
			found, err := db.Get(key(1))
			elapsed := time.Since(start)
			require.NoError(t, err)
			require.True(t, found)
			reads := config.Disk.Reads() - before
			require.Positive(t, reads)
			require.GreaterOrEqual(t, elapsed, time.Duration(reads)*latency)
			require.NoError(t, db.Close())
		})
	}
}
