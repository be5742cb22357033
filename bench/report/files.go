package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/levelbloom/levelbloom/bench/engine"
)

// A record is one way of reading in one run. The JSON names of its fields are the CSV's columns too, in this order.
type record struct {
	Engine  string      `json:"engine"`
	Filter  string      `json:"filter"`
	Again   bool        `json:"again"`
	Round   int         `json:"round"`
	Read    engine.Read `json:"read"`
	LoadPer float64     `json:"load_keys_per_s"`
	LoadP50 int64       `json:"load_put_p50_ns"`
	LoadP99 int64       `json:"load_put_p99_ns"`

	SmallMissPer float64 `json:"small_cache_miss_per_s"`
	SmallMissP50 int64   `json:"small_cache_miss_p50_ns"`
	SmallMissP99 int64   `json:"small_cache_miss_p99_ns"`
	SmallHitPer  float64 `json:"small_cache_hit_per_s"`
	SmallHitP50  int64   `json:"small_cache_hit_p50_ns"`
	SmallHitP99  int64   `json:"small_cache_hit_p99_ns"`
	LargeMissPer float64 `json:"large_cache_miss_per_s"`
	LargeMissP50 int64   `json:"large_cache_miss_p50_ns"`
	LargeMissP99 int64   `json:"large_cache_miss_p99_ns"`
	LargeHitPer  float64 `json:"large_cache_hit_per_s"`
	LargeHitP50  int64   `json:"large_cache_hit_p50_ns"`
	LargeHitP99  int64   `json:"large_cache_hit_p99_ns"`

	BetweenLookups        int64 `json:"between_lookups"`
	BetweenChecks         int64 `json:"between_checks"`
	BetweenFuseChecks     int64 `json:"between_fuse_checks"` // of the checks, those of binary fuse filters
	BetweenReadsAvoided   int64 `json:"between_reads_avoided"`
	BetweenFalsePositives int64 `json:"between_false_positives"`
	BetweenBlockReads     int64 `json:"between_block_reads"`
	BeyondLookups         int64 `json:"beyond_lookups"`
	BeyondChecks          int64 `json:"beyond_checks"`
	BeyondFuseChecks      int64 `json:"beyond_fuse_checks"`
	BeyondReadsAvoided    int64 `json:"beyond_reads_avoided"`
	BeyondFalsePositives  int64 `json:"beyond_false_positives"`
	BeyondBlockReads      int64 `json:"beyond_block_reads"`

	Filters       int64   `json:"filters"`
	FilterBytes   int64   `json:"filter_bytes"`
	FilteredKeys  int64   `json:"filtered_keys"`
	KeysPerFilter float64 `json:"keys_per_filter"` // mean over keys
	Levels        string  `json:"levels"`          // tables/bytes by level
}

func (r *Report) records() (all []record) {
	for _, run := range r.Runs {
		for _, l := range run.Lookups {
			small, large := l.SmallCache, l.LargeCache
			all = append(all, record{
				Engine: run.Contestant.Engine.Name(), Filter: string(run.Contestant.Filter), Again: run.Contestant.Again,
				Round: run.Round, Read: l.Read,
				LoadPer: run.Load.PerSecond, LoadP50: run.Load.P50.Nanoseconds(), LoadP99: run.Load.P99.Nanoseconds(),

				SmallMissPer: small.Miss.PerSecond, SmallMissP50: small.Miss.P50.Nanoseconds(), SmallMissP99: small.Miss.P99.Nanoseconds(),
				SmallHitPer: small.Hit.PerSecond, SmallHitP50: small.Hit.P50.Nanoseconds(), SmallHitP99: small.Hit.P99.Nanoseconds(),
				LargeMissPer: large.Miss.PerSecond, LargeMissP50: large.Miss.P50.Nanoseconds(), LargeMissP99: large.Miss.P99.Nanoseconds(),
				LargeHitPer: large.Hit.PerSecond, LargeHitP50: large.Hit.P50.Nanoseconds(), LargeHitP99: large.Hit.P99.Nanoseconds(),

				BetweenLookups: l.Between.Lookups, BetweenChecks: l.Between.Checks, BetweenFuseChecks: l.Between.Fuse, BetweenReadsAvoided: l.Between.Avoided,
				BetweenFalsePositives: l.Between.FalsePositives(), BetweenBlockReads: l.Between.BlockReads,
				BeyondLookups: l.Beyond.Lookups, BeyondChecks: l.Beyond.Checks, BeyondFuseChecks: l.Beyond.Fuse, BeyondReadsAvoided: l.Beyond.Avoided,
				BeyondFalsePositives: l.Beyond.FalsePositives(), BeyondBlockReads: l.Beyond.BlockReads,

				Filters: run.Tables.Filters, FilterBytes: run.Tables.FilterBytes, FilteredKeys: run.Tables.FilteredKeys,
				KeysPerFilter: run.Tables.KeysPerFilter, Levels: run.Tables.String(),
			})
		}
	}
	return all
}

// WriteJSON writes machine, versions, settings and all runs as one JSON object.
func (r *Report) WriteJSON(w io.Writer) error {
	settings := map[string]string{}
	for _, s := range r.Settings {
		settings[s.Name] = s.Value
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Machine    Machine           `json:"machine"`
		Versions   map[string]string `json:"versions"`
		Settings   map[string]string `json:"settings"`
		SmallCache int               `json:"small_cache_bytes"`
		LargeCache int               `json:"large_cache_bytes"`
		Runs       []record          `json:"runs"`
	}{r.Machine, r.versions(), settings, r.SmallCache, r.LargeCache, r.records()})
}

// WriteCSV writes one line for each record; version, machine and settings are columns of each.
func (r *Report) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	for i, rec := range r.records() {
		names, values := columns(rec)
		machineNames, machineValues := columns(r.Machine)
		names = append(append(names, "version"), machineNames...)
		values = append(append(values, r.versions()[rec.Engine]), machineValues...)
		for _, s := range r.Settings {
			names, values = append(names, "setting_"+s.Name), append(values, s.Value)
		}
		if i == 0 {
			out.Write(names) // Flush keeps the first error for Error
		}
		out.Write(values)
	}
	out.Flush()
	return out.Error()
}

// columns returns the JSON names and the values of a flat struct's fields.
func columns(s any) (names, values []string) {
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		names = append(names, v.Type().Field(i).Tag.Get("json"))
		values = append(values, fmt.Sprint(v.Field(i).Interface()))
	}
	return names, values
}

func (r *Report) versions() map[string]string {
	versions := map[string]string{}
	for _, e := range r.Engines {
		versions[e.Name] = e.Version
	}
	return versions
}
