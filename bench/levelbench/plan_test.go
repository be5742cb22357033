package levelbench

import (
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"
)

func TestParsePlan(t *testing.T) {
	for _, c := range []struct {
		name   string
		split  int
		levels [7]string
	}{
		{"exact", 4, [7]string{"exact", "exact", "exact", "exact", "exact", "exact", "exact"}},
		{"blocked/fuse", 4, [7]string{"blocked", "blocked", "blocked", "blocked", "fuse", "fuse", "fuse"}},
		{"none/builtin", 1, [7]string{"none", "builtin", "builtin", "builtin", "builtin", "builtin", "builtin"}},
	} {
		plan, err := ParsePlan(c.name, c.split)
		require.NoError(t, err)
		require.Equal(t, c.name, plan.Name)
		for level, e := range plan.Levels {
			require.Equal(t, c.levels[level], e.Name, "%s, L%d", c.name, level)
		}
	}
	for _, name := range []string{"", "cuckoo", "exact/", "exact/fuse/fuse"} {
		_, err := ParsePlan(name, 4)
		require.ErrorContains(t, err, "choose from none, builtin, exact, blocked, fuse", name)
	}
}

// Each level has a policy with a name of its own; L6 has one if it is asked for.
func TestConfigure(t *testing.T) {
	for name, want := range map[string][7]string{
		"builtin/fuse": {"builtin in L0", "builtin in L1", "builtin in L2", "fuse in L3", "fuse in L4", "fuse in L5", "fuse in L6"},
		"none/builtin": {none, none, none, "builtin in L3", "builtin in L4", "builtin in L5", "builtin in L6"},
	} {
		plan, err := ParsePlan(name, 3)
		require.NoError(t, err)
		for _, l6 := range []bool{true, false} {
			if !l6 {
				want[lastLevel] = none
			}
			o := &pebble.Options{}
			meters, err := plan.configure(o, 10.5, l6)
			require.NoError(t, err)
			o.EnsureDefaults()
			for level, name := range want {
				p := o.Levels[level].FilterPolicy
				require.Equal(t, name, p.Name())
				require.Equal(t, name == none, meters[level] == nil)
				if name != none {
					require.Same(t, meters[level], p)
					require.Same(t, p, o.Filters[name])
				}
			}
		}
	}
	plan, err := ParsePlan("fuse", 3)
	require.NoError(t, err)
	_, err = plan.configure(&pebble.Options{}, 0, false)
	require.ErrorContains(t, err, "0 bits per key")
}
