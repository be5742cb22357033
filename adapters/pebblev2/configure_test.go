package pebblev2_test

import (
	"maps"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	engine "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

var engineName = engine.FilterPolicy(10).Name()

// foreign is a Pebble policy from elsewhere.
type foreign struct {
	pebble.FilterPolicy
	name string
}

func (f foreign) Name() string { return f.name }

func TestConfigureRefuses(t *testing.T) {
	p := bloom(t, 10)
	stranger := foreign{engine.FilterPolicy(10), policy.Name}
	const refused = "a name of its own with policy.WithName"
	for _, c := range []struct {
		name   string
		o      *pebble.Options
		reason string
	}{
		{"nil options", nil, "the options are nil: pass &pebble.Options{}"},
		{"Filters", atLevel0(nil, map[string]pebble.FilterPolicy{policy.Name: stranger}), refused},
		{"a level", atLevel0(stranger, nil), refused},
		{"a level, behind ours in Filters",
			atLevel0(stranger, map[string]pebble.FilterPolicy{policy.Name: pebblev2.New(p)}),
			refused},
		{"a level, other policy",
			atLevel0(pebblev2.New(&spy{Policy: p}), nil), refused},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, configure := range map[string]func() error{
				"Configure": func() error { return pebblev2.Configure(c.o, p) },
				"ConfigureLevels": func() error {
					return pebblev2.ConfigureLevels(c.o, []policy.Policy{p})
				},
			} {
				var before pebble.Options
				if c.o != nil {
					before = *c.o
					before.Filters = maps.Clone(c.o.Filters)
				}
				err := configure()
				require.ErrorContains(t, err, c.reason, name)
				require.ErrorContains(t, err, "pebblev2: ", name)
				if c.o != nil {
					require.Equal(t, before, *c.o, name)
				}
			}
		})
	}
	o := &pebble.Options{}
	require.ErrorContains(t, pebblev2.Configure(o, p, nil), "an option is nil: leave it out")
	require.Equal(t, &pebble.Options{}, o)
}

func TestWithL6Refuses(t *testing.T) {
	p := bloom(t, 10)
	mine := bloom(t, 10, policy.WithName("mine"))
	for _, c := range []struct {
		p, l6  policy.Policy
		reason string
	}{
		{p, nil, "pebblev2: policy of L6: policy: the policy is nil"},
		{p, &spy{Policy: p}, "pebblev2: the name"},
		{mine, &spy{Policy: mine}, "pebblev2: the name"},
	} {
		o := &pebble.Options{}
		require.ErrorContains(t, pebblev2.Configure(o, c.p, pebblev2.WithL6(c.l6)), c.reason)
		require.Equal(t, &pebble.Options{}, o)
	}
}

// WithL6 gives L6 another policy. If the two share a name, the first reads the filters of both.
func TestWithL6(t *testing.T) {
	p, sameName := bloom(t, 10), bloom(t, 5)
	o := configured(t, &pebble.Options{}, p, pebblev2.WithL6(sameName))
	require.Equal(t, pebblev2.New(p), filterAt(o, 5))
	require.Equal(t, pebblev2.New(sameName), filterAt(o, 6))
	require.Equal(t, pebblev2.New(p), o.Filters[policy.Name])

	mine := bloom(t, 5, policy.WithName("mine"))
	o = configured(t, &pebble.Options{}, p, pebblev2.WithL6(mine))
	require.Equal(t, pebblev2.New(p), o.Filters[policy.Name])
	require.Equal(t, pebblev2.New(mine), o.Filters["mine"])
	require.Len(t, o.Filters, len(readerNames)+1)
}

// atLevel0 returns options with a policy at L0 and with filters.
func atLevel0(f pebble.FilterPolicy, filters map[string]pebble.FilterPolicy) *pebble.Options {
	o := oneLevel()
	o.Levels[0].FilterPolicy = f
	o.Filters = filters
	return o
}

func TestConfigureLevelsRefuses(t *testing.T) {
	p := bloom(t, 10)
	mine := bloom(t, 10, policy.WithName("mine"))
	noPolicy, _ := policy.NewBloom(0)
	for _, c := range []struct {
		name   string
		levels []policy.Policy
		reason string
	}{
		{"no level", nil, "0 policies for the levels: pass 1 to 7"},
		{"eight levels", make([]policy.Policy, 8), "8 policies for the levels: pass 1 to 7"},
		{"what NewBloom returns with an error", []policy.Policy{p, noPolicy},
			"pebblev2: policy of L1: policy: the policy is nil"},
		{"another encoding, one name", []policy.Policy{mine, &spy{Policy: mine}},
			"policy.WithName"},
		{"another encoding, LevelDB's name", []policy.Policy{&spy{Policy: p}}, "policy.WithName"},
		{"not adjacent", []policy.Policy{mine, nil, p, p, p, p, &spy{Policy: mine}},
			"policy.WithName"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &pebble.Options{}
			require.ErrorContains(t, pebblev2.ConfigureLevels(o, c.levels), c.reason)
			require.Equal(t, &pebble.Options{}, o)
		})
	}
}

// readerNames are the names that Configure adds beside the policy's own.
var readerNames = []string{engineName, policy.Name, policy.NameGoLevelDB}

func TestReadersAreKept(t *testing.T) {
	p := bloom(t, 10, policy.WithName("mine"))
	users := map[string]pebble.FilterPolicy{
		"theirs":             foreign{engine.FilterPolicy(1), "theirs"},
		engineName:           foreign{engine.FilterPolicy(2), engineName},
		policy.NameGoLevelDB: foreign{engine.FilterPolicy(3), policy.NameGoLevelDB},
	}
	o := oneLevel()
	o.Levels[0].FilterPolicy = foreign{engine.FilterPolicy(4), "at L0"}
	o.Filters = maps.Clone(users)
	before := o.Filters

	require.NoError(t, pebblev2.Configure(o, p))
	require.Equal(t, users, before, "the user's map is left as it was")
	for name, f := range users {
		require.Equal(t, f, o.Filters[name], name)
	}
	require.Equal(t, foreign{engine.FilterPolicy(4), "at L0"}, o.Filters["at L0"])
	require.Equal(t, pebblev2.New(p), o.Filters["mine"])
	require.Contains(t, o.Filters, policy.Name)
	require.Len(t, o.Filters, len(users)+3)
}

func TestReadersAreAdded(t *testing.T) {
	p := bloom(t, 10, policy.WithName("mine"))
	o := &pebble.Options{}
	require.NoError(t, pebblev2.Configure(o, p))
	require.Len(t, o.Filters, len(readerNames)+1)
	require.Equal(t, engine.FilterPolicy(10), o.Filters[engineName])
	for name, f := range o.Filters {
		require.Equal(t, name, f.Name())
	}

	keys := policytest.Keys(policytest.Rand(t, 40), 1000)
	filter := bloom(t, 30).AppendFilter(nil, keys[:500])
	for _, name := range []string{policy.Name, policy.NameGoLevelDB} {
		absent := 0
		for i, key := range keys {
			if o.Filters[name].MayContain(pebble.TableFilter, filter, key) {
				continue
			}
			require.GreaterOrEqual(t, i, 500, "%s loses key %x", name, key)
			absent++
		}
		require.Greater(t, absent, 450, "of 500 absent keys")
	}
}

// Configure replaces a former policy of the same name, and keeps one of another name as a reader.
func TestConfigureAgain(t *testing.T) {
	first, second := bloom(t, 10), bloom(t, 16)
	renamed := bloom(t, 16, policy.WithName("mine"))
	o := &pebble.Options{}
	require.NoError(t, pebblev2.Configure(o, first, pebblev2.WithL6(first)))
	require.NoError(t, pebblev2.Configure(o, second))
	require.Equal(t, pebblev2.New(second), o.Filters[policy.Name])
	require.Len(t, o.Filters, len(readerNames))
	for level, f := range filtersOf(o) {
		if level == 6 {
			require.Equal(t, "none", f)
		} else {
			require.Equal(t, policy.Name, f)
		}
	}

	require.NoError(t, pebblev2.Configure(o, renamed))
	require.Equal(t, pebblev2.New(second), o.Filters[policy.Name])
	require.Equal(t, pebblev2.New(renamed), o.Filters["mine"])
	require.Len(t, o.Filters, len(readerNames)+1)
}

// Calling Configure twice has the effect of calling it once.
func TestConfigureTwice(t *testing.T) {
	p := bloom(t, 10)
	for _, opts := range [][]pebblev2.Option{nil, {pebblev2.WithL6(p)}} {
		once := configured(t, &pebble.Options{}, p, opts...)
		twice := configured(t, configured(t, &pebble.Options{}, p, opts...), p, opts...)
		require.Equal(t, filtersOf(once), filtersOf(twice))
		require.Equal(t, ensured(once).String(), ensured(twice).String())
		require.Equal(t, once.Filters, twice.Filters)
	}
}

func TestConfigureLevels(t *testing.T) {
	low, high := bloom(t, 8), bloom(t, 16)
	mine := bloom(t, 10, policy.WithName("mine"))
	for _, c := range []struct {
		name   string
		levels []policy.Policy
		want   [7]string
	}{
		{
			"all", []policy.Policy{high, high, mine, mine, low, low, mine},
			[7]string{policy.Name, policy.Name, "mine", "mine", policy.Name, policy.Name, "mine"},
		},
		{
			"nil: no filters", []policy.Policy{nil, mine, nil},
			[7]string{"none", "mine", "none", "none", "none", "none", "none"},
		},
		{
			"past the end: no filters", []policy.Policy{mine},
			[7]string{"mine", "none", "none", "none", "none", "none", "none"},
		},
		{
			"all none", make([]policy.Policy, 7),
			[7]string{"none", "none", "none", "none", "none", "none", "none"},
		},
		{
			"the same throughout", []policy.Policy{mine, mine, mine, mine, mine, mine, mine},
			[7]string{"mine", "mine", "mine", "mine", "mine", "mine", "mine"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := oneLevel()
			o.Levels[0].FilterPolicy = engine.FilterPolicy(10)
			require.NoError(t, pebblev2.ConfigureLevels(o, c.levels))
			require.Equal(t, c.want, filtersOf(o))
			for _, name := range append(c.want[:], readerNames...) {
				if name != "none" {
					require.Contains(t, o.Filters, name)
				}
			}
		})
	}
	require.NoError(t, pebblev2.ConfigureLevels(&pebble.Options{}, []policy.Policy{high, low}),
		"settings may share a name")
}
