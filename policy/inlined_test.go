package policy

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// The lookups are fast because these steps are no calls. One more line in the wrong place would
// make one of them too large for the compiler to inline, and nothing else would show it.
func TestInlinedSteps(t *testing.T) {
	testkit.Large(t) // another release of Go may inline other functions
	said, err := exec.Command("go", "build", "-gcflags=-m", ".", "./internal/...").CombinedOutput()
	require.NoError(t, err, "%s", said)
	for _, step := range []string{
		"HashStart", "HashWords", "hashWord", "HashTail", "Delta", "newModulus",
		"modulus.byteOf", "NewBits", "Bits.Probe", "setProbe", "MayContain",
		"builder.(*Buffer[go.shape.uint32]).Repeats", "builder.(*Buffer[go.shape.uint64]).Repeats",
		"builder.(*Buffer[go.shape.uint32]).Full", "builder.(*Buffer[go.shape.uint64]).Full",
		"builder.(*Buffer[go.shape.uint32]).Put", "builder.(*Buffer[go.shape.uint64]).Put",
		"Hash", "isKnown", "row.plus", "(*sums).put",
	} {
		require.True(t, regexp.MustCompile(`can inline `+regexp.QuoteMeta(step)+`\s`).Match(said),
			"%s is not inlined", step)
	}
	// MayContain and ribbon.Contains themselves have these steps.
	for file, steps := range map[string]string{
		"maycontain": "bloom.HashStart bloom.HashWords bloom.HashTail bloom.Delta bloom.NewBits " +
			"bloom.Bits.Probe bloom.Bits.Contains",
		"contains": "sum8 lengthCheck indexOf locate shardOf offset draw multiplier place varied " +
			"beyond load8 spread fold satisfiesColumns",
	} {
		for _, step := range strings.Fields(steps) {
			require.Regexp(t, file+`\.go:\d+:\d+: inlining call to `+regexp.QuoteMeta(step)+`\s`,
				string(said))
		}
	}
}
