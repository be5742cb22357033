package report

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"

	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/measure"
)

// A record is one run as the files hold it. The field names are the JSON names and, in this order, the CSV columns.
type record struct {
	Engine        string         `json:"engine"`
	Filter        string         `json:"filter"`
	Again         bool           `json:"again"`
	Round         int            `json:"round"`
	LoadPerSecond float64        `json:"load_keys_per_s"`
	MissPerSecond float64        `json:"miss_lookups_per_s"`
	MissP50       int64          `json:"miss_p50_ns"`
	MissP99       int64          `json:"miss_p99_ns"`
	HitPerSecond  float64        `json:"hit_lookups_per_s"`
	HitP50        int64          `json:"hit_p50_ns"`
	HitP99        int64          `json:"hit_p99_ns"`
	Between       answers        `json:"between"`
	Beyond        answers        `json:"beyond"`
	Filters       int64          `json:"filters"`
	FilterBytes   int64          `json:"filter_bytes"`
	FilteredKeys  int64          `json:"filtered_keys"`
	Levels        []engine.Level `json:"levels"`
}

// answers counts what the filters said to absent keys.
type answers struct {
	Lookups        int64 `json:"lookups"`
	Checks         int64 `json:"checks"`
	ReadsAvoided   int64 `json:"reads_avoided"`
	FalsePositives int64 `json:"false_positives"`
}

func answersOf(a measure.Answers) answers {
	return answers{a.Lookups, a.Checks, a.Avoided, a.FalsePositives()}
}

func (r *Report) records() (all []record) {
	for _, run := range r.Runs {
		all = append(all, record{
			Engine:        run.Contestant.Engine.Name(),
			Filter:        string(run.Contestant.Filter),
			Again:         run.Contestant.Again,
			Round:         run.Round,
			LoadPerSecond: run.LoadPerSecond,
			MissPerSecond: run.Miss.PerSecond,
			MissP50:       run.Miss.P50.Nanoseconds(),
			MissP99:       run.Miss.P99.Nanoseconds(),
			HitPerSecond:  run.Hit.PerSecond,
			HitP50:        run.Hit.P50.Nanoseconds(),
			HitP99:        run.Hit.P99.Nanoseconds(),
			Between:       answersOf(run.Between),
			Beyond:        answersOf(run.Beyond),
			Filters:       run.Tables.Filters,
			FilterBytes:   run.Tables.FilterBytes,
			FilteredKeys:  run.Tables.FilteredKeys,
			Levels:        run.Tables.Levels,
		})
	}
	return all
}

// WriteJSON writes machine, versions, settings and all runs as one JSON object.
func (r *Report) WriteJSON(w io.Writer) error {
	engines, settings := map[string]string{}, map[string]string{}
	for _, e := range r.Engines {
		engines[e.Name] = e.Version
	}
	for _, s := range r.Settings {
		settings[s.Name] = s.Value
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Machine    Machine           `json:"machine"`
		Engines    map[string]string `json:"engines"`
		Settings   map[string]string `json:"settings"`
		BitsPerKey BitsUsed          `json:"bits_per_key"`
		Runs       []record          `json:"runs"`
	}{r.Machine, engines, settings, r.BitsUsed, r.records()})
}

// WriteCSV writes one line per run; machine, versions and settings are columns of each.
func (r *Report) WriteCSV(w io.Writer) error {
	header := []string{
		"engine", "filter", "again", "round", "load_keys_per_s",
		"miss_lookups_per_s", "miss_p50_ns", "miss_p99_ns", "hit_lookups_per_s", "hit_p50_ns", "hit_p99_ns",
		"between_lookups", "between_checks", "between_reads_avoided", "between_false_positives",
		"beyond_lookups", "beyond_checks", "beyond_reads_avoided", "beyond_false_positives",
		"filters", "filter_bytes", "filtered_keys",
		"builtin_bits_per_key", "levelbloom_bits_per_key",
		"engine_version", "cpu", "cores", "os", "arch", "go_version", "gomaxprocs",
	}
	for _, s := range r.Settings {
		header = append(header, "setting_"+s.Name)
	}
	versions := map[string]string{}
	for _, e := range r.Engines {
		versions[e.Name] = e.Version
	}
	out := csv.NewWriter(w)
	out.Write(header) // Flush keeps the first error for Error
	d := func(n int64) string { return strconv.FormatInt(n, 10) }
	f := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, rec := range r.records() {
		m := r.Machine
		line := []string{
			rec.Engine, rec.Filter, strconv.FormatBool(rec.Again), d(int64(rec.Round)), f(rec.LoadPerSecond),
			f(rec.MissPerSecond), d(rec.MissP50), d(rec.MissP99), f(rec.HitPerSecond), d(rec.HitP50), d(rec.HitP99),
			d(rec.Between.Lookups), d(rec.Between.Checks), d(rec.Between.ReadsAvoided), d(rec.Between.FalsePositives),
			d(rec.Beyond.Lookups), d(rec.Beyond.Checks), d(rec.Beyond.ReadsAvoided), d(rec.Beyond.FalsePositives),
			d(rec.Filters), d(rec.FilterBytes), d(rec.FilteredKeys),
			f(r.BitsUsed.BuiltIn), f(r.BitsUsed.LevelBloom),
			versions[rec.Engine], m.CPU, d(int64(m.Cores)), m.OS, m.Arch, m.GoVersion, d(int64(m.GoMaxProcs)),
		}
		for _, s := range r.Settings {
			line = append(line, s.Value)
		}
		out.Write(line)
	}
	out.Flush()
	return out.Error()
}
