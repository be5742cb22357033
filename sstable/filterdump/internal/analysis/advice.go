package analysis

import "github.com/levelbloom/levelbloom/policy"

// Advice names the kind of filter that suits the tables' keys, if theirs does not: if the FPR
// between the keys is clearly above what the filters' bits give for random ones.
func (t *Totals) Advice() string {
	if !t.Between.clearlyAbove(t.FPP) || t.Encodings[policy.EncodingRibbon.String()] > 0 {
		return ""
	}
	advice := "These keys suit policy.NewRibbon, whose filters only levelbloom reads"
	if t.Encodings[policy.EncodingBloom.String()] > 0 {
		advice += ", or policy.WithTuning, whose filters every reader of LevelDB's reads"
	}
	return advice + ". What that is worth: " +
		"go run github.com/levelbloom/levelbloom/bench@latest report -keys DIRECTORY"
}
