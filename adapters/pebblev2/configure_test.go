package pebblev2_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	engine "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// readerNames are the names that Configure adds beside the policy's own.
var readerNames = []string{engineName, policy.NameLevelDB, policy.NameGoLevelDB}

// configuring calls Configure on options.
type configuring func(o *pebble.Options) error

func one(p *policy.Policy, opts ...pebblev2.Option) configuring {
	return func(o *pebble.Options) error { return pebblev2.Configure(o, p, opts...) }
}

// noFilters is the policy of levels without filters.
var noFilters = &policy.Policy{}

// configureLevels configures a policy for each level; levels past the last one get none.
func configureLevels(all ...*policy.Policy) configuring {
	return func(o *pebble.Options) error {
		var opts []pebblev2.Option
		for level, p := range append(all, slices.Repeat([]*policy.Policy{noFilters}, 7-len(all))...) {
			opts = append(opts, pebblev2.WithLevel(level, p))
		}
		p, err := policy.NewBloom(10) // which no level gets
		return errors.Join(err, pebblev2.Configure(o, p, opts...))
	}
}

// shapes are options of many kinds, by name. Every call makes new ones.
func shapes(t testing.TB) map[string]*pebble.Options {
	all := map[string]*pebble.Options{
		"zero": {},
		"fields outside the levels": {
			MemTableSize: 1 << 20, FlushSplitBytes: 1 << 19, BytesPerSync: 1 << 18,
			L0CompactionThreshold: 7, Comparer: comparers[1], Logger: quiet{},
			EventListener: &pebble.EventListener{},
		},
		"with defaults": ensured(&pebble.Options{FS: vfs.NewMem()}),
	}
	shapesOfLevels(all, testkit.Rand(t, 70))
	return all
}

// Every level gets the filters configured for it, which are read too, and nothing else changes.
// Configuring twice has the effect of configuring once.
func TestConfigureChangesFiltersOnly(t *testing.T) {
	p, q := bloom(t, 10, policy.WithName("p")), bloom(t, 8, policy.WithName("q"))
	high, low := bloom(t, 16, policy.WithName("x")), bloom(t, 8, policy.WithName("x"))
	for want, configure := range map[string]configuring{
		"[p p p p p p p]":    one(p),
		"[p p p p p p q]":    one(p, pebblev2.WithLevel(6, q)),
		"[p p p p p p none]": one(p, pebblev2.WithLevel(6, noFilters)),
		"[q p p p p p none]": one(p, pebblev2.WithLevel(6, noFilters),
			pebblev2.WithLevel(0, q)),
		"[p p q q p p q]":                      configureLevels(p, p, q, q, p, p, q),
		"[q none p none none none none]":       configureLevels(q, noFilters, p),
		"[none p none none none none none]":    configureLevels(noFilters, p, noFilters),
		"[none none none none none none none]": configureLevels(),
		"[x x none none none none none]":       configureLevels(high, low),
	} {
		for shape, o := range shapes(t) {
			t.Run(want+"/"+shape, func(t *testing.T) {
				given, rawBefore, effectiveBefore := o.Clone(), raw(o), effective(o)
				var filters map[string]pebble.FilterPolicy
				for range 2 {
					require.NoError(t, configure(o))
					require.Equal(t, want, fmt.Sprint(filtersOf(o)))
					require.Equal(t, rawBefore, raw(o))
					require.Equal(t, effectiveBefore, effective(o))
					requireLevelsKept(t, given, o)
					if filters != nil {
						require.Equal(t, filters, o.Filters)
					}
					filters = o.Filters
				}
				for _, name := range append(readerNames, strings.Fields(strings.Trim(want, "[]"))...) {
					if name != "none" {
						require.Equal(t, name, filters[name].Name())
					}
				}
			})
		}
	}
}

// atLevel0 returns options with a policy at L0 and with filters.
func atLevel0(f pebble.FilterPolicy, filters map[string]pebble.FilterPolicy) *pebble.Options {
	o := oneLevel()
	o.Levels[0].FilterPolicy = f
	o.Filters = filters
	return o
}

// foreign is a Pebble policy from elsewhere.
type foreign struct {
	pebble.FilterPolicy
	name string
}

func (f foreign) Name() string { return f.name }

// If it fails, Configure leaves the options as they were.
func TestConfigureRefuses(t *testing.T) {
	p, mine := bloom(t, 10), bloom(t, 10, policy.WithName("mine"))
	stranger := foreign{engine.FilterPolicy(10), policy.NameLevelDB}
	byName := func(f pebble.FilterPolicy) map[string]pebble.FilterPolicy {
		return map[string]pebble.FilterPolicy{policy.NameLevelDB: f}
	}
	const taken = "a name of its own with policy.WithName"
	for _, c := range []struct {
		name      string
		o         *pebble.Options
		configure configuring
		reason    string
	}{
		{"nil options", nil, one(p), "the options are nil: pass &pebble.Options{}"},
		{"nil options", nil, configureLevels(p), "the options are nil: pass &pebble.Options{}"},
		{"zero option", oneLevel(), one(p, pebblev2.Option{}), "the policy of L0 is nil"},
		{"in Filters", atLevel0(nil, byName(stranger)), one(p), taken},
		{"in Filters", atLevel0(nil, byName(stranger)), configureLevels(noFilters, p), taken},
		{"at a level", atLevel0(stranger, nil), one(p), taken},
		{"at a level, after ours in Filters", atLevel0(stranger, byName(pebblev2.New(p))), one(p),
			taken},
		{"L6: in Filters", atLevel0(nil, byName(stranger)), one(mine, pebblev2.WithLevel(6, p)),
			taken},
		{"another key in Filters", atLevel0(nil, byName(engine.FilterPolicy(10))), one(p), taken},
		{"nil policy", oneLevel(), one(nil), "get one from a constructor"},
		{"level -1", oneLevel(), one(p, pebblev2.WithLevel(-1, p)), "level -1: pass 0 for L0 to 6 "},
		{"level 7", oneLevel(), one(p, pebblev2.WithLevel(7, noFilters)), "level 7: pass 0 for L0 to 6 "},
		{"twice", oneLevel(), one(p, pebblev2.WithLevel(6, mine), pebblev2.WithLevel(6, noFilters)),
			"two options for L6: leave one out"},
		{"none, twice", oneLevel(), one(p, pebblev2.WithLevel(0, noFilters), pebblev2.WithLevel(0, mine)),
			"two options for L0: leave one out"},
		{"a failed constructor", oneLevel(), one(p, pebblev2.WithLevel(1, nil)),
			"the policy of L1 is nil: check the error of the constructor, or for no filters pass &pol"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before pebble.Options
			if c.o != nil {
				before = *c.o
				before.Filters = maps.Clone(c.o.Filters)
			}
			err := c.configure(c.o)
			require.ErrorContains(t, err, c.reason)
			require.ErrorContains(t, err, "pebblev2: ")
			if c.o != nil {
				require.Equal(t, before, *c.o)
			}
		})
	}
}

// Configure reads the filters of all policies, and of several under one name by the first: those of
// the levels from L0 on, those in the user's map, and those at levels before.
func TestReadersAreKept(t *testing.T) {
	p := bloom(t, 10, policy.WithName("mine"))
	users := map[string]pebble.FilterPolicy{
		"theirs":             foreign{engine.FilterPolicy(1), "theirs"},
		"another name":       foreign{engine.FilterPolicy(1), "theirs"},
		engineName:           foreign{engine.FilterPolicy(2), engineName},
		policy.NameGoLevelDB: foreign{engine.FilterPolicy(3), policy.NameGoLevelDB},
	}
	o := atLevel0(foreign{engine.FilterPolicy(4), "at L0"}, maps.Clone(users))
	before := o.Filters
	configured(t, o, p, pebblev2.WithLevel(6, bloom(t, 5, policy.WithName("mine"))))
	require.Equal(t, users, before, "the user's map is left as it was")
	for name, f := range users {
		require.Equal(t, f, o.Filters[name], name)
	}
	require.Equal(t, foreign{engine.FilterPolicy(4), "at L0"}, o.Filters["at L0"])
	require.Equal(t, pebblev2.New(p), o.Filters["mine"])
	require.Contains(t, o.Filters, policy.NameLevelDB)
	require.Len(t, o.Filters, len(users)+3)

	o.Levels[0].FilterPolicy = foreign{engine.FilterPolicy(5), "theirs"}
	require.NoError(t, pebblev2.Configure(o, p))
	require.Equal(t, users["theirs"], o.Filters["theirs"])

	// A policy replaces a former one of its name, and keeps those of other names as readers.
	again := bloom(t, 16, policy.WithName("mine"))
	require.NoError(t, pebblev2.Configure(o, again))
	require.Equal(t, pebblev2.New(again), o.Filters["mine"])
	require.NoError(t, pebblev2.Configure(o, bloom(t, 16)))
	require.Equal(t, pebblev2.New(again), o.Filters["mine"])
	require.Len(t, o.Filters, len(users)+3)
}
