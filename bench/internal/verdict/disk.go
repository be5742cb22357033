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
	Engine    string         `json:"engine"` // a name of engine.Engines, or "" of another engine
	All       int            `json:"all_tables"`
	Sample    ondisk.Summary `json:"sample"`      // of a random sample of them
	Cache     float64        `json:"cache_bytes"` // of the block cache
	CacheFrom string         `json:"cache_from"`  // who says so
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
	d := &Disk{All: len(tables), Cache: 8 << 20, CacheFrom: "by goleveldb's default"}
	if size, err := strconv.ParseFloat(optionOf(path, "cache_size"), 64); err == nil {
		d.Cache, d.CacheFrom = size, "by its OPTIONS file"
	}
	switch {
	case optionOf(path, "key_schema") != "": // which is new in version 2
		d.Engine = "pebblev2"
	case optionOf(path, "pebble_version") != "":
		d.Engine = "pebblev1"
	case optionOf(path, "rocksdb_version") == "":
		d.Engine = "goleveldb"
	}
	d.Sample, err = ondisk.Describe(ctx, tables[:min(sample, len(tables))])
	return d, err
}

// optionOf returns an option in the newest of Pebble's options files, or "".
func optionOf(dir, name string) string {
	files, _ := filepath.Glob(filepath.Join(dir, "OPTIONS-*"))
	if len(files) == 0 {
		return ""
	}
	data, _ := os.ReadFile(slices.Max(files))
	found := regexp.MustCompile(`(?m)^ *` + name + `=(.*)$`).FindSubmatch(data)
	if found == nil {
		return ""
	}
	return string(found[1])
}

// filter returns which filter of the engines is the one on disk.
func (d *Disk) filter() string {
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
	text := fmt.Sprintf("On disk now: %d of %d tables have filters: %s, named %s, %.1f bits per "+
		"key. ", s.Tables-s.Without, s.Tables, names(s.Encodings), names(s.Policies), s.BitsPerKey)
	if s.Between.Asked > 0 {
		text += fmt.Sprintf("Of absent keys between yours %s are false positives. ",
			percent(d.fpr()))
	}
	bytes := float64(s.FilterBytes) * float64(d.All) / float64(s.Tables)
	return text + fmt.Sprintf("All filters take %s MB; the block cache, which must hold them, has "+
		"%.1f MB %s.", digits(bytes/1e6), d.Cache/1e6, d.CacheFrom)
}

// fpr is the part of absent keys between the database's own that are false positives.
func (d *Disk) fpr() report.Spread {
	b := d.Sample.Between
	return report.Spread{Middle: b.Rate, Low: b.Low, High: b.High}
}

func names(counts map[string]int) string {
	return strings.Join(slices.Sorted(maps.Keys(counts)), " and ")
}
