package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// kinds are the kinds of filter that [FromString] knows.
var kinds = []string{"bloom", "ribbon"}

// FromString returns the policy that a string describes: the kind of its filters, a colon, and
// the bits per key. Options may follow after commas:
//
//	ribbon:7
//	bloom:10
//	bloom:10,tuned
//	bloom:9.5,tuned,name=leveldb.BuiltinBloomFilter
//
// tuned stands for [WithTuning], and name= for [WithName], which comes last. opts are applied after
// the options in the string.
//
// [Policy.String] returns such strings. If FromString cannot read spec, its error says what to
// write instead. It also returns the errors of the constructors.
func FromString(spec string, opts ...Option) (*Policy, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	settings, name, named := strings.Cut(rest, ",name=")
	bits, options, more := strings.Cut(settings, ",")
	switch {
	case kind == "tuned":
		return nil, fmt.Errorf("policy: tuned is an option: write bloom:%s,tuned%s",
			cmp.Or(bits, "10"), strings.TrimPrefix(rest, bits))
	case !slices.Contains(kinds, kind):
		return nil, fmt.Errorf("policy: %q is not a kind of filter: write one of %s, a colon, "+
			"and the bits per key, such as ribbon:10", kind, strings.Join(kinds, ", "))
	}
	bitsPerKey, err := strconv.ParseFloat(bits, 64)
	if err != nil {
		return nil, fmt.Errorf("policy: %q is not bits per key: write a number after the colon, "+
			"such as %s:10", bits, kind)
	}
	var all []Option
	for more {
		var option string
		switch option, options, more = strings.Cut(options, ","); option {
		case "tuned":
			all = append(all, WithTuning())
		default:
			return nil, fmt.Errorf("policy: %q is not an option: write tuned, "+
				"and last name=NAME, such as bloom:10,tuned", option)
		}
	}
	if named {
		all = append(all, WithName(name))
	}
	all = append(all, opts...)
	if kind == "ribbon" {
		return NewRibbon(bitsPerKey, all...)
	}
	return NewBloom(bitsPerKey, all...)
}

// String returns the policy's settings as [FromString] takes them, such as "ribbon:7". It does not
// show [WithCounters].
func (p *Policy) String() string {
	kind := "bloom"
	if p.ribbon {
		kind = "ribbon"
	}
	text := fmt.Sprintf("%s:%v", kind, p.setting.BitsPerKey)
	if p.setting.Tuned {
		text += ",tuned"
	}
	if p.name != NameLevelDB {
		text += ",name=" + p.name
	}
	return text
}
