package verdict

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/ondisk"
)

// Disk is what a database has on disk.
type Disk struct {
	Engine string         // a name of engine.Engines, or "" of another engine
	All    int            // tables
	Sample ondisk.Summary // of a random sample of them
	Cache  float64        // bytes of the block cache, or 0 if no file says it
}

// ReadDisk reads some tables of the database in a directory, which may be in use, and asks their
// filters about absent keys between the database's own. Of a file, or without a path, it returns
// nil.
func ReadDisk(ctx context.Context, path string) (*Disk, error) {
	const sample = 32
	if path == "" {
		return nil, nil
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil, err
	}
	tables, err := ondisk.Find(path)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(1, 3))
	rng.Shuffle(len(tables), func(i, j int) { tables[i], tables[j] = tables[j], tables[i] })
	d := &Disk{All: len(tables)}
	options := newestOptions(path)
	if size := cacheSize.FindStringSubmatch(options); size != nil {
		d.Cache, _ = strconv.ParseFloat(size[1], 64)
	}
	switch {
	case strings.Contains(options, "key_schema="): // which is new in version 2
		d.Engine = "pebblev2"
	case strings.Contains(options, "pebble_version="):
		d.Engine = "pebblev1"
	case !strings.Contains(options, "rocksdb_version="):
		d.Engine = "goleveldb"
	}
	d.Sample, err = ondisk.Describe(ctx, tables[:min(sample, len(tables))])
	return d, err
}

var cacheSize = regexp.MustCompile(`(?m)^ *cache_size=([0-9]+)$`)

// newestOptions returns the newest of Pebble's options files, or "".
func newestOptions(dir string) string {
	files, _ := filepath.Glob(filepath.Join(dir, "OPTIONS-*"))
	if len(files) == 0 {
		return ""
	}
	text, _ := os.ReadFile(slices.Max(files))
	return string(text)
}

// Filter returns which filter of the engines is the one on disk.
func (d *Disk) Filter() string {
	has := func(encoding string) bool { return d.Sample.Encodings[encoding] > 0 }
	switch exact := policy.EncodingBloom.String(); {
	case len(d.Sample.Policies) == 0:
		return engine.None
	case has(policy.EncodingRibbon.String()):
		return ribbon
	case has(exact + ", tuned"):
		return "tuned"
	case has(exact) && d.Engine != "goleveldb":
		return policy.Kinds()[0].Name
	}
	return engine.BuiltIn
}

// String describes it in sentences.
func (d *Disk) String() string {
	s := d.Sample
	if len(s.Policies) == 0 {
		return fmt.Sprintf("On disk now: none of %d tables has a filter.", s.Tables)
	}
	rate := ""
	if s.Between.Asked > 0 {
		percent := d.fpr().Times(100)
		rate = fmt.Sprintf(" Of absent keys between yours %v\u00a0%% are false positives.", percent)
	}
	cache := "goleveldb's default has 8.4 MB"
	if d.Cache > 0 {
		cache = fmt.Sprintf("%.1f MB by the OPTIONS file", d.Cache/1e6)
	}
	bytes := float64(s.FilterBytes) * float64(d.All) / float64(s.Tables)
	return fmt.Sprintf("On disk now: %d of %d tables have filters: %s, named %s, %.1f bits per key.%s "+
		"All filters take %s MB, for which the block cache must have room (%s).", s.Tables-s.Without,
		s.Tables, names(s.Encodings), names(s.Policies), s.BitsPerKey, rate,
		report.Digits(bytes/1e6), cache)
}

// fpr is the part of absent keys between the database's own that are false positives.
func (d *Disk) fpr() report.Figure {
	b := d.Sample.Between
	return report.Figure{Middle: b.Rate, Low: b.Low, High: b.High}
}

func names(counts map[string]int) string {
	return strings.Join(slices.Sorted(maps.Keys(counts)), " and ")
}
