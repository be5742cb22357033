package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
)

type pebbleV2 struct{}

func (pebbleV2) Name() string   { return "pebblev2" }
func (pebbleV2) Module() string { return "github.com/cockroachdb/pebble/v2" }

func (pebbleV2) Reads() []Read { return Reads }

func (pebbleV2) Bits(c Config) []float64 { return c.Levels.present() }

func (pebbleV2) Open(c Config) (DB, error) {
	o := &pebble.Options{
		FormatMajorVersion:    pebble.FormatNewest,
		MemTableSize:          uint64(c.Scale.memTable()),
		L0CompactionThreshold: 2 * l0Compaction, // Pebble compacts at half of it
		LBaseMaxBytes:         int64(c.Scale.BaseLevel),
		Logger:                pebbleV2Logger{c.OnFatal},
		FS: vfs.OnDiskFull(vfs.Default, func() {
			c.OnFatal(fmt.Errorf("%s: %w", c.Dir, syscall.ENOSPC))
			select {} // Pebble panics if it learns that it cannot write; the caller of OnFatal ends the program
		}),
		EventListener: &pebble.EventListener{BackgroundError: c.OnFatal},
		ReadOnly:      c.Counts != nil,
		CacheSize:     int64(c.Cache),
	}
	for i := range o.TargetFileSizes {
		o.TargetFileSizes[i] = int64(c.Scale.Table)
	}
	o.Experimental.LevelMultiplier = c.Scale.Factor
	o.Experimental.ReadSamplingMultiplier = -1                           // reading must not set off compactions
	o.Experimental.MultiLevelCompactionHeuristic = pebble.NoMultiLevel{} // it would leave the levels above L6 nearly empty
	switch c.Filter {
	case BuiltIn:
		for level, bits := range c.Levels {
			o.Levels[level].FilterPolicy = pebble.NoFilterPolicy // nil would inherit
			if bits != 0 {
				o.Levels[level].FilterPolicy = bloom.FilterPolicy(WholeBits(bits))
			}
		}
	case LevelBloom, Blocked, Fuse:
		levels, err := c.Levels.each(policies[c.Filter])
		if err != nil {
			return nil, err
		}
		if err := pebblev2.ConfigureLevels(o, levels); err != nil {
			return nil, err
		}
	}
	if c.Counts != nil {
		for i, l := range o.Levels {
			if l.FilterPolicy != nil && l.FilterPolicy != pebble.NoFilterPolicy {
				o.Levels[i].FilterPolicy = &pebbleV2Counter{l.FilterPolicy, c.Counts}
			}
		}
		o.Filters = nil // Open fills it from the levels
	}
	db, err := pebble.Open(c.Dir, o)
	if err != nil {
		return nil, err
	}
	return &pebbleV2DB{db}, nil
}

type pebbleV2DB struct{ *pebble.DB }

func (db *pebbleV2DB) Put(key, value []byte) error { return db.DB.Set(key, value, pebble.NoSync) }

func (db *pebbleV2DB) Reader(read Read) (Reader, error) {
	if read == Get {
		return getter(db.get), nil
	}
	it, err := db.NewIter(&pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		return nil, err
	}
	return pebbleV2Prefix{it}, nil
}

func (db *pebbleV2DB) get(key []byte) (bool, error) {
	_, closer, err := db.DB.Get(key)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			err = nil
		}
		return false, err
	}
	return true, closer.Close()
}

type pebbleV2Prefix struct{ *pebble.Iterator }

func (it pebbleV2Prefix) Find(key []byte) (bool, error) {
	if !it.SeekPrefixGE(key) || !bytes.Equal(it.Key(), key) {
		return false, it.Error()
	}
	_, err := it.ValueAndErr()
	return err == nil, err
}

func (db *pebbleV2DB) Settle(ctx context.Context) (idleSince time.Time, err error) {
	if err := db.Flush(); err != nil {
		return time.Time{}, err
	}
	return settle(ctx, func() (bool, error) {
		m := db.Metrics()
		return m.Flush.NumInProgress == 0 && m.Compact.NumInProgress == 0, nil
	})
}

func (db *pebbleV2DB) Tables() (Tables, error) {
	levels, err := db.SSTables(pebble.WithProperties())
	if err != nil {
		return Tables{}, err
	}
	var t Tables
	var squares float64
	for _, tables := range levels {
		l := Level{Tables: int64(len(tables))}
		for _, table := range tables {
			l.Bytes += int64(table.Size)
			if p := table.Properties; p.FilterSize > 0 {
				t.Filters++
				l.FilterBytes += int64(p.FilterSize)
				t.FilteredKeys += int64(p.NumEntries)
				squares += float64(p.NumEntries) * float64(p.NumEntries)
			}
		}
		t.FilterBytes += l.FilterBytes
		t.Levels = append(t.Levels, l)
	}
	if t.FilteredKeys > 0 {
		t.KeysPerFilter = squares / float64(t.FilteredKeys)
	}
	return t, nil
}

func (db *pebbleV2DB) Stats() Stats {
	m := db.Metrics()
	return Stats{
		Counts:     true,
		Checks:     m.Filter.Hits + m.Filter.Misses,
		Avoided:    m.Filter.Hits, // Pebble's "hits" are the reads avoided
		BlockReads: m.BlockCache.Hits + m.BlockCache.Misses,
	}
}

// pebbleV2Counter counts what a policy is asked.
type pebbleV2Counter struct {
	pebble.FilterPolicy
	counts *Counts
}

func (p *pebbleV2Counter) MayContain(t pebble.FilterType, filter, key []byte) bool {
	return p.counts.add(filter, p.FilterPolicy.MayContain(t, filter, key))
}

// pebbleV2Logger keeps Pebble's chatter out of the output, and Pebble from ending the program on a fatal error.
type pebbleV2Logger struct{ onFatal func(error) }

func (pebbleV2Logger) Infof(string, ...any)  {}
func (pebbleV2Logger) Errorf(string, ...any) {}

// Fatalf does not return, because Pebble relies on that; the caller of onFatal ends the program.
func (l pebbleV2Logger) Fatalf(format string, args ...any) {
	l.onFatal(fmt.Errorf(format, args...))
	select {}
}
