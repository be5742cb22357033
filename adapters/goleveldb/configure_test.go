package goleveldb_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// foreign is a filter whose encoding nobody else knows.
type foreign string

func (f foreign) Name() string                       { return string(f) }
func (foreign) NewGenerator() filter.FilterGenerator { panic("not used") }
func (foreign) Contains(_, _ []byte) bool            { return true }

// The filters on disk stay in use: Filter is the policy's, and AltFilters has each name once.
func TestConfigure(t *testing.T) {
	theirs := filter.NewBloomFilter(10)
	standard := bloom(t, 10)
	underTheirName := bloom(t, 10, policy.WithName(policy.NameGoLevelDB))
	mine := bloom(t, 10, policy.WithName("mine"))
	older := goleveldb.New(bloom(t, 5))

	// The filters to expect: the user's own by value, and readers that Configure adds by name.
	const readsCpp, readsGo = "reads " + policy.NameLevelDB, "reads " + policy.NameGoLevelDB
	for _, c := range []struct {
		name   string
		filter filter.Filter
		alt    []filter.Filter
		policy *policy.Policy
		want   []any
	}{
		{"nothing before", nil, nil, standard, []any{readsGo}},
		{"goleveldb's name", nil, nil, underTheirName, []any{readsCpp}},
		{"another name", nil, nil, mine, []any{readsCpp, readsGo}},
		{"goleveldb's filter before", theirs, nil, standard, []any{theirs}},
		{"goleveldb's filter before, same name", theirs, nil, underTheirName, []any{readsCpp}},
		{"ours before, other name", older, nil, mine, []any{older, readsGo}},
		{"the first of a name is kept", theirs,
			[]filter.Filter{foreign("b"), foreign(policy.NameGoLevelDB), foreign("b")},
			standard, []any{theirs, foreign("b")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &opt.Options{Filter: c.filter, AltFilters: c.alt, BlockSize: 123, NoSync: true,
				FilterBaseLg: 63}
			others := *o
			check := func() {
				require.Equal(t, c.policy.Name(), o.Filter.Name())
				require.Len(t, o.AltFilters, len(c.want))
				for i, want := range c.want {
					if name, added := want.(string); added {
						require.Equal(t, name, "reads "+o.AltFilters[i].Name())
						requireReadsLevelDB(t, o.AltFilters[i])
						continue
					}
					require.Equal(t, want, o.AltFilters[i])
				}
				others.Filter, others.AltFilters = o.Filter, o.AltFilters
				require.Equal(t, others, *o, "Configure changes the filters alone")
			}
			require.NoError(t, goleveldb.Configure(o, c.policy))
			check()
			require.NoError(t, goleveldb.Configure(o, c.policy))
			check()
		})
	}
}

// requireReadsLevelDB requires that f reads filters that goleveldb's own filter built.
func requireReadsLevelDB(t *testing.T, f filter.Filter) {
	made := generate(filter.NewBloomFilter(16).NewGenerator(), [][]byte{[]byte("present")})
	require.True(t, f.Contains(made, []byte("present")))
	require.False(t, f.Contains(made, []byte("absent")))
}

// If it fails, Configure leaves the options as they were.
func TestConfigureRefuses(t *testing.T) {
	mine := bloom(t, 10, policy.WithName("mine"))
	underTheirName := bloom(t, 10, policy.WithName(policy.NameGoLevelDB))
	for _, c := range []struct {
		name    string
		options *opt.Options
		policy  *policy.Policy
		message string
	}{
		{"nil options", nil, mine, "pass &opt.Options{}"},
		{"nil policy", &opt.Options{}, nil, "get one from a constructor"},
		{"windows of 2^64 bytes", &opt.Options{FilterBaseLg: 64}, mine, "set 11 to 63, "},
		{"nil entry", &opt.Options{AltFilters: []filter.Filter{nil}}, mine,
			"AltFilters has a nil entry"},
		{"other encoding", &opt.Options{Filter: foreign("mine")}, mine, "policy.WithName"},
		{"other encoding among others",
			&opt.Options{AltFilters: []filter.Filter{foreign("a"), foreign("mine")}}, mine,
			"policy.WithName"},
		{"unknown type under goleveldb's name", &opt.Options{Filter: foreign(policy.NameGoLevelDB)},
			underTheirName, "policy.WithName"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before opt.Options
			if c.options != nil {
				before = *c.options
			}
			require.ErrorContains(t, goleveldb.Configure(c.options, c.policy), c.message)
			if c.options != nil {
				require.Equal(t, before, *c.options)
			}
		})
	}
}
