package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// kinds are the kinds of filter that [FromString] knows.
var kinds = []string{"bloom", "tuned", "ribbon"}

// FromString returns the policy that a string describes: the kind of its filters, a colon, and
// the bits per key. Options may follow after commas:
//
//	ribbon:7
//	bloom:10
//	tuned:10     NewBloom(10, WithTuning())
//	bloom:9.5,verify,name=leveldb.BuiltinBloomFilter
//
// verify stands for [WithVerify], and name= for [WithName]. The name comes last, as it may contain
// commas. opts are applied after the options in the string.
//
// [Policy.String] returns such strings. If FromString cannot read spec, its error says what to
// write instead. It also returns the errors of the constructors.
func FromString(spec string, opts ...Option) (*Policy, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	if !slices.Contains(kinds, kind) {
		return nil, errKind(kind)
	}
	text, name, named := strings.Cut(rest, ",name=") // a name may contain commas
	bits, verify := strings.CutSuffix(text, ",verify")
	bitsPerKey, err := strconv.ParseFloat(bits, 64)
	if err != nil {
		return nil, fmt.Errorf("policy: %q is not bits per key: write a number after the colon, and "+
			"behind it nothing but the options verify and name=NAME, such as %s:10,verify",
			bits, kind)
	}
	var all []Option
	if verify {
		all = append(all, WithVerify())
	}
	if named {
		all = append(all, WithName(name))
	}
	all = append(all, opts...)
	switch kind {
	case "ribbon":
		return NewRibbon(bitsPerKey, all...)
	case "tuned":
		all = append(all, WithTuning())
	}
	return NewBloom(bitsPerKey, all...)
}

func errKind(kind string) error {
	return fmt.Errorf("policy: %q is not a kind of filter: write one of %s, a colon, "+
		"and the bits per key, such as ribbon:10", kind, strings.Join(kinds, ", "))
}

// String returns the policy's settings as [FromString] takes them, such as "ribbon:7". It does not
// show [WithCounters].
func (p *Policy) String() string {
	kind := "bloom"
	if p.ribbon {
		kind = "ribbon"
	} else if p.setting.Tuned {
		kind = "tuned"
	}
	text := fmt.Sprintf("%s:%v", kind, p.setting.BitsPerKey)
	if p.setting.Verify {
		text += ",verify"
	}
	if p.name != Name {
		text += ",name=" + p.name
	}
	return text
}
