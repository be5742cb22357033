package policy

import (
	"os/exec"
	"regexp"
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
		"Hash",
		"draw", "multiplier", "place", "beyond", "varied", "isKnown", "row.plus", "(*sums).put",
		"spread", "fold", "load8", "sum8", "lengthCheck", "shardOf", "offset",
	} {
		require.True(t, regexp.MustCompile(`can inline `+regexp.QuoteMeta(step)+`\s`).Match(said),
			"%s is not inlined", step)
	}
	// MayContain itself has these steps of another package.
	for _, step := range []string{
		"HashStart", "HashWords", "HashTail", "Delta", "NewBits", "Bits.Probe",
	} {
		require.Regexp(t, `maycontain\.go:\d+:\d+: inlining call to bloom\.`+step+`\s`, string(said))
	}
}
