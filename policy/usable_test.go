package policy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/policytest"
)

// What no engine can use, each with the words that say what to do.
func TestCheck(t *testing.T) {
	bloom, err := NewBloom(0)
	require.Error(t, err)
	ribbon, err := NewRibbon(0)
	require.Error(t, err)
	for _, p := range []Policy{
		nil, bloom, ribbon, (*Counted)(nil), new(Bloom), new(Ribbon), new(Counted),
		&Counted{policy: new(Bloom)},
	} {
		require.ErrorContains(t, Check(p), "get one from a constructor such as policy.NewBloom",
			"%T", p)
		require.PanicsWithValue(t, errUnusable, func() { Count(p) }, "%T", p)
		require.PanicsWithValue(t, errUnusable, func() { NewDistinctBuilder(p) }, "%T", p)
	}
	for _, name := range []string{"", "none", " a", "a\nb", "rocksdb.BuiltinBloomFilter"} {
		require.Equal(t, checkName(name), Check(named{name: name}))
		require.ErrorContains(t, Check(named{name: name}), ": pass ", "%q", name)
		require.Panics(t, func() { Count(named{name: name}) })
		require.Panics(t, func() { NewDistinctBuilder(named{bloomOfBits(10), name, nil}) })
	}
	for _, p := range readers() {
		require.NoError(t, Check(p))
		require.NoError(t, Check(Count(Count(p))))
	}
	require.NoError(t, Check(named{name: "of another package"}))
}

// A zero value and a nil pointer say what to do at their first call.
func TestZeroValues(t *testing.T) {
	for _, p := range []Policy{
		new(Bloom), new(Ribbon), new(Counted), (*Bloom)(nil), (*Ribbon)(nil), (*Counted)(nil),
	} {
		require.PanicsWithValue(t, errUnusable, func() { p.NewBuilder() }, "%T", p)
		if w, ok := p.(Sized); ok {
			require.PanicsWithValue(t, errUnusable, func() { w.AppendFilter(nil, nil) }, "%T", p)
			require.PanicsWithValue(t, errUnusable, func() { w.FilterSize(1) }, "%T", p)
			require.PanicsWithValue(t, errUnusable, func() { w.FPP(1) }, "%T", p)
		}
		if c, ok := p.(*Counted); ok {
			require.PanicsWithValue(t, errUnusable, func() { c.Name() })
		}
		if p == (*Counted)(nil) {
			continue
		}
		// Reading needs no setting.
		filter := policytest.Must(NewBloom(10)).AppendFilter(nil, [][]byte{{1}})
		require.True(t, p.MayContain(filter, []byte{1}))
		require.False(t, p.MayContain(filter, []byte{2}))
	}
}

// A named policy is of another package, and its type is not comparable.
type named struct {
	Policy
	name string
	_    []int
}

func (n named) Name() string { return n.name }

// embedded inherits the methods of the Counted in it, and answers differently.
type embedded struct{ *Counted }

func (embedded) MayContain(filter, key []byte) bool { return false }

func TestCompatible(t *testing.T) {
	var ours []Policy
	for _, p := range readers() {
		ours = append(ours, p, Count(p), Count(Count(p)))
	}
	bloom := policytest.Must(NewBloom(10))
	foreign := []Policy{
		absentPolicy{bloom}, embedded{Count(bloom)}, Count(absentPolicy{bloom}), named{name: "a"},
		nil,
	}
	for _, a := range ours {
		for _, b := range ours {
			require.True(t, Compatible(a, b), "%T and %T", a, b)
		}
		for _, b := range foreign {
			require.False(t, Compatible(a, b), "%T and %T", a, b)
			require.False(t, Compatible(b, a), "%T and %T", a, b)
		}
	}
	for i, a := range foreign[:3] {
		for j, b := range foreign {
			require.Equal(t, i == j, Compatible(a, b), "%T and %T", a, b)
		}
	}
	require.False(t, Compatible(foreign[3], foreign[3]), "== does not compare these")
}
