package analysis

import (
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/filters"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// A setting is what a policy of this module was told, as far as its filters show.
type setting struct {
	kind       kind
	bitsPerKey float64
	perWindow  bool
	baseLg     int // if perWindow
}

// maxWholeBits bounds the settings that settingOf compares with the filters.
const maxWholeBits = 100

// settingOf returns the setting of filters that were built from these numbers of keys, nil if the
// filters are not all of one kind. The bits per key are the largest whole number of which a policy
// builds filters of just these sizes; if there is none, the mean.
func settingOf(f *tables.Filters, keys []int64) *setting {
	if f.Reader != filters.LevelDB {
		return nil
	}
	var s *setting
	k, bits, all := 0, 0.0, 0.0 // k is 0 if it differs
	for i, filter := range f.Each {
		if len(filter) == 0 || keys[i] == 0 {
			continue
		}
		_, info, err := f.Reader.Parse(filter)
		if err != nil || s != nil && info.Encoding != s.kind.encoding {
			return nil
		}
		if s == nil {
			s, k = &setting{perWindow: f.PerWindow, baseLg: f.BaseLg}, info.K
			for _, known := range kinds {
				if known.encoding == info.Encoding {
					s.kind = known
				}
			}
		}
		if info.K != k {
			k = 0
		}
		bits += float64(8 * len(info.Payload))
		all += float64(keys[i])
	}
	if s == nil || s.kind.new == nil {
		return nil
	}
	s.bitsPerKey = bits / all
	for whole := maxWholeBits; k > 0 && whole > 0; whole-- {
		if s.kind.builds(float64(whole), k, f.Each, keys) {
			s.bitsPerKey = float64(whole)
			break
		}
	}
	return s
}

// builds reports whether a policy of the kind builds filters of these sizes, with k probes per key.
func (k kind) builds(bitsPerKey float64, probes int, each [][]byte, keys []int64) bool {
	p, err := k.new(bitsPerKey)
	if err != nil {
		return false
	}
	builder := p.NewBuilder()
	builder.Add(nil)
	if info, err := policy.Parse(builder.Finish(nil)); err != nil || info.K != probes {
		return false
	}
	for i, filter := range each {
		if keys[i] > 0 && p.FilterSize(int(keys[i])) != uint64(len(filter)) {
			return false
		}
	}
	return true
}
